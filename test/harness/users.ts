import { randomBytes } from 'node:crypto'
import type { PlaneUser, UserName } from './plane.ts'

/**
 * The people and programs of the tests. `hub` is the ServiceAccount of manifests/, so on a plane with RBAC it may do
 * what the manifests grant and nothing else; the three roles are bound to their users by the tests that need them.
 */
const USERS: Readonly<Record<UserName, Omit<PlaneUser, 'token'>>> = {
  admin: { user: 'admin', groups: ['system:masters'] },
  hub: {
    user: 'system:serviceaccount:upgrade-hub:cloudhub',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:upgrade-hub', 'system:authenticated'],
  },
  viewer: { user: 'viewer', groups: ['system:authenticated'] },
  operator: { user: 'operator', groups: ['system:authenticated'] },
  approver: { user: 'approver', groups: ['system:authenticated'] },
  nobody: { user: 'nobody', groups: ['system:authenticated'] },
}

export function mintUsers(): Record<UserName, PlaneUser> {
  const minted = Object.entries(USERS).map(([name, user]) => [
    name,
    { ...user, token: randomBytes(24).toString('hex') },
  ])
  return Object.fromEntries(minted) as Record<UserName, PlaneUser>
}
