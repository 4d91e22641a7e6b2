import type { Facts } from '../machine/state.ts'
import type { StepContext } from '../steps/context.ts'

/**
 * How an upgrade tool gets the new files. All that follows (version and platform check, backup, swap, proof, way back) is
 * the same for every tool.
 */
export interface UpgradeProvider {
  /**
   * Puts the new files into a folder that is on disk and says which target each of them is for, with its hash. What an
   * earlier updater has left in the folder may be used or removed. Ends when the context's signal aborts.
   * @throws StepError with the code that the hub is told
   */
  fetch(
    context: StepContext,
    folder: string,
  ): Promise<Pick<Facts, 'staged' | 'indexDigest' | 'manifestDigest'>>
}
