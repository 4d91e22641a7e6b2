//go:build tools

// Package etcd pins the etcd that the integration tests run against.
package etcd

import _ "go.etcd.io/etcd/server/v3"
