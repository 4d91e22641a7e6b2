import { splitApiVersion } from '../objects.ts'
import type { Resource } from './resource.ts'

/** v2 before v1 before v1beta2 before v1alpha1, as Kubernetes prefers versions. */
export function compareVersionNames(a: string, b: string): number {
  const rank = (name: string): readonly number[] => {
    const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(name)
    if (!match) return [3, 0, 0]
    const stage = match[2] === undefined ? 0 : match[2] === 'beta' ? 1 : 2
    return [stage, -Number(match[1]), -Number(match[3] ?? 0)]
  }
  const left = rank(a)
  const right = rank(b)
  const difference = left.map((value, i) => value - (right[i] ?? 0)).find((value) => value !== 0)
  return difference ?? (a < b ? -1 : a > b ? 1 : 0)
}

/** What is served now: the built-in resources, and those of every established CRD. */
export class Registry {
  readonly #builtin: readonly Resource[]
  readonly #custom = new Map<string, readonly Resource[]>()
  #byPath = new Map<string, Resource>()
  #generation = 0

  constructor(builtin: readonly Resource[]) {
    this.#builtin = builtin
    this.#index()
  }

  /** Rises with every change: what is derived from the registry is cached by it. */
  get generation(): number {
    return this.#generation
  }

  all(): readonly Resource[] {
    return [...this.#byPath.values()]
  }

  find(group: string, version: string, plural: string): Resource | undefined {
    return this.#byPath.get(`${group}/${version}/${plural}`)
  }

  ofKind(apiVersion: string, kind: string): Resource | undefined {
    const { group, version } = splitApiVersion(apiVersion)
    return this.all().find((r) => r.group === group && r.version === version && r.kind === kind)
  }

  /** All served versions of what is kept under one name, the preferred first. */
  ofStorage(storage: string): readonly Resource[] {
    return this.all()
      .filter((resource) => resource.storage === storage)
      .sort((a, b) => a.group.length - b.group.length || compareVersionNames(a.version, b.version))
  }

  /** Groups but the core one, by name; versions as preferred. */
  groups(): ReadonlyMap<string, readonly string[]> {
    const groups = new Map<string, Set<string>>()
    for (const { group, version } of this.all()) {
      if (group) groups.set(group, (groups.get(group) ?? new Set()).add(version))
    }
    const sorted = [...groups].sort(([a], [b]) => (a < b ? -1 : 1))
    return new Map(sorted.map(([group, versions]) => [group, [...versions].sort(compareVersionNames)]))
  }

  inVersion(group: string, version: string): readonly Resource[] {
    return this.all()
      .filter((resource) => resource.group === group && resource.version === version)
      .sort((a, b) => (a.plural < b.plural ? -1 : 1))
  }

  setCustom(crd: string, resources: readonly Resource[]): void {
    this.#custom.set(crd, resources)
    this.#index()
  }

  dropCustom(crd: string): void {
    if (this.#custom.delete(crd)) this.#index()
  }

  #index(): void {
    this.#generation += 1
    const all = [...this.#builtin, ...[...this.#custom.values()].flat()]
    this.#byPath = new Map(all.map((r) => [`${r.group}/${r.version}/${r.plural}`, r]))
  }
}
