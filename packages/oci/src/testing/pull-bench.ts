import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@upgrade-hub/core'
import { type PulledImage, type PullOptions, pullImage } from '../pull.ts'
import { DEFAULT_LIMITS, type PullLimits, type RegistrySettings } from '../settings.ts'
import { type Compression, type Entry, HOST, ImageStore } from './image-store.ts'
import { type Intercept, type ServerTls, startTestRegistry, type TestRegistry } from './test-registry.ts'

/** The file that every test pulls. */
export const FILE = '/usr/local/bin/edgecore'
/** The entry of a layer that is this file. */
export const AGENT: Entry & { readonly content: string } = {
  name: 'usr/local/bin/edgecore',
  content: 'the agent',
}
/** The tag that is pulled. */
export const TAG = 'v1.1.0'

type Change = Partial<Omit<PullOptions, 'limits' | 'registry'>> & {
  readonly limits?: Partial<PullLimits>
  readonly registry?: Partial<RegistrySettings>
}

/** A store, the registries that serve it, and a folder to pull into. */
export class PullBench {
  readonly store = new ImageStore()
  readonly into: string
  readonly registries: TestRegistry[] = []

  private constructor(into: string) {
    this.into = into
  }

  static async create(): Promise<PullBench> {
    return new PullBench(await mkdtemp(join(tmpdir(), 'upgrade-hub-pull-')))
  }

  /** Starts a registry over the store; the first one is what images are pulled from. */
  async serve(intercept?: Intercept, tls?: ServerTls): Promise<TestRegistry> {
    const registry = await startTestRegistry(this.store, intercept, tls)
    this.registries.push(registry)
    return registry
  }

  /** Publishes layers as one image behind the tag. @returns the digest of its index */
  async publish(layers: readonly (readonly Entry[])[], compression?: Compression): Promise<string> {
    const made = await Promise.all(layers.map((entries) => this.store.layer(entries, compression)))
    const { digest } = this.store.index([{ image: this.store.image(made), platform: HOST }])
    this.store.tags.set(TAG, digest)
    return digest
  }

  /** The layers of the store, the largest first. */
  layers(): { readonly digest: string; readonly data: Buffer }[] {
    return [...this.store.blobs]
      .flatMap(([digest, { data, type }]) => (type.includes('layer') ? [{ digest, data }] : []))
      .toSorted((a, b) => b.data.length - a.data.length)
  }

  /** Leaves a file for a layer as a pull does that was killed. */
  async leaveLayer(digest: string, content: Buffer): Promise<void> {
    await mkdir(join(this.into, 'layers'))
    await writeFile(join(this.into, 'layers', digest.replace('sha256:', '')), content)
  }

  /** Pulls the file, without a second try unless `limits.retries` says so. */
  async pull({ limits, registry: settings, ...change }: Change = {}): Promise<PulledImage> {
    const { host } = this.registries[0] ?? (await this.serve())
    return pullImage({
      image: { registry: host, repository: 'team/edge', tag: TAG },
      platform: HOST,
      files: [FILE],
      into: this.into,
      registry: { ...this.#named(), ...settings },
      limits: { ...DEFAULT_LIMITS, retries: 0, ...limits },
      clock: systemClock,
      signal: new AbortController().signal,
      ...change,
    })
  }

  /** Settings that name every registry, because they are at a private address. */
  #named(): Pick<RegistrySettings, 'allow' | 'plainHttp'> {
    const [secure, plain] = [true, false].map((isSecure) =>
      this.registries.filter((one) => one.isSecure === isSecure).map(({ host }) => host),
    )
    return { allow: secure?.length ? [...secure, ...(plain ?? [])] : [], plainHttp: plain ?? [] }
  }

  async remove(): Promise<void> {
    for (const registry of this.registries) await registry.stop()
    await rm(this.into, { recursive: true, force: true })
  }
}
