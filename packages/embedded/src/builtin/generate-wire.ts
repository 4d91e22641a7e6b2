import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { definitions } from './definitions.ts'

/**
 * Writes `wire-fields.json`: the protobuf field numbers of every definition, read from the struct tags of the Go types
 * (Apache-2.0, kubernetes/kubernetes). `3: name` is a field, `*` before the name says that a zero counts (a pointer in
 * Go), `<Struct` that the fields of that struct lie in its parent.
 * Usage: node generate-wire.ts GOPATH/pkg/mod/k8s.io v0.37.2
 */
const MODULES = ['apiextensions-apiserver', 'apimachinery', 'api']
const STRUCT = /^type (\w+) struct \{$/
const FIELD = /^\t(?:\w+\s+)?(\*?)(\S+)\s+`json:"([^",]*)[^"]*"[^`]*protobuf:"\w+,(\d+),[^"]*"/

type Fields = Record<string, string>

/** The folder of a definition's Go package, undefined for what is not ours. */
function folderOf(name: string, root: string, version: string): string | undefined {
  const path = name
    .replace(/^io\.k8s\./, '')
    .split('.')
    .slice(0, -1)
  const module = MODULES.find((candidate) => candidate === path[0])
  return module && join(root, `${module}@${version}`, ...path.slice(1))
}

function structFields(source: string, struct: string): Fields {
  const lines = source.split('\n')
  const start = lines.findIndex((line) => STRUCT.exec(line)?.[1] === struct)
  const fields: Fields = {}
  for (let i = start + 1; start >= 0 && lines[i] !== '}' && i < lines.length; i++) {
    const match = FIELD.exec(lines[i] ?? '')
    if (!match) continue
    const [, pointer = '', type = '', name = '', number = ''] = match
    fields[number] = name === '' ? `<${type}` : pointer + name
  }
  return fields
}

function sources(folder: string): string {
  const files = readdirSync(folder).filter((name) => /^types.*\.go$/.test(name) || name === 'generated.go')
  return files.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n')
}

function main(root: string, version: string): void {
  const found = new Map<string, Fields>()
  const read = (name: string): void => {
    const folder = folderOf(name, root, version)
    if (!folder || found.has(name)) return
    const fields = structFields(sources(folder), name.slice(name.lastIndexOf('.') + 1))
    if (Object.keys(fields).length > 0) found.set(name, fields)
    for (const field of Object.values(fields)) {
      if (field.startsWith('<')) read(name.slice(0, name.lastIndexOf('.') + 1) + field.slice(1))
    }
  }
  for (const name of Object.keys(definitions())) read(name)
  const lines = [...found].map(([name, fields]) => `${JSON.stringify(name)}: ${JSON.stringify(fields)}`)
  writeFileSync(new URL('wire-fields.json', import.meta.url), `{\n${lines.join(',\n')}\n}\n`)
}

main(process.argv[2] ?? '', process.argv[3] ?? '')
