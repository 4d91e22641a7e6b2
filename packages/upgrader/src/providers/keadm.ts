import { basename, join } from 'node:path'
import { imageForVersion } from '@upgrade-hub/core'
import { StepError } from '../errors.ts'
import type { StagedFile } from '../machine/state.ts'
import type { StepContext } from '../steps/context.ts'
import { hostPlatform } from '../steps/platform.ts'
import { programTargets } from '../steps/targets.ts'
import { noteDownload } from '../store/download.ts'
import type { UpgradeProvider } from './provider.ts'

const PROGRESS_EVERY_MS = 500
/** Where KubeEdge's installation image keeps its programs. */
const IMAGE_FOLDER = '/usr/local/bin'

/** Files of an installation image, by digest. What a killed pull has left, the next one goes on with. */
export const keadm: UpgradeProvider = {
  fetch: async (context, folder) => {
    const { component, prepare, signal } = context
    if (prepare.Image === '')
      throw new StepError('PullFailed', `no backup of ${prepare.Version} is whole, and no image is named`)
    const names = [component.binary, ...component.companions]
    const targets = await programTargets(component)
    const pulled = await context.pull({
      image: imageForVersion(prepare.Image, prepare.Version),
      ...(prepare.ImageDigest ? { digest: prepare.ImageDigest } : {}),
      digests: prepare.Digests,
      ...(prepare.RegistryAPI
        ? { registryApi: { host: prepare.RegistryAPI.Host, token: prepare.RegistryAPI.Token } }
        : {}),
      platform: hostPlatform(),
      files: names.map(inImage),
      into: folder,
      signal,
      onProgress: progressOf(context),
    })
    const staged = names.map((name, at): StagedFile => {
      const file = pulled.files[inImage(name)]
      if (!file) throw new StepError('BadArchive', `the image has no ${inImage(name)}`)
      return { target: targets[at] ?? name, staged: file.path, sha256: file.sha256, size: file.size }
    })
    return { staged, indexDigest: pulled.indexDigest, manifestDigest: pulled.manifestDigest }
  },
}

/** Notes how far a download is, now and then. */
export function progressOf({ clock, paths }: Pick<StepContext, 'clock' | 'paths'>) {
  let notedAt = Number.NEGATIVE_INFINITY
  return ({ bytes, total }: { readonly bytes: number; readonly total: number }): void => {
    if (clock.monotonic() - notedAt < PROGRESS_EVERY_MS) return
    notedAt = clock.monotonic()
    noteDownload(paths.download, bytes, total).catch(() => undefined)
  }
}

function inImage(name: string): string {
  return join(IMAGE_FOLDER, basename(name))
}
