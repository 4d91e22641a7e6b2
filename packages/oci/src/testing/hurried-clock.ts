import { FakeClock } from '@upgrade-hub/core/testing'

/** Time stands still but for waiting, which takes none. */
export class HurriedClock extends FakeClock {
  readonly slept: number[] = []

  override sleep(ms: number): Promise<void> {
    this.slept.push(ms)
    return Promise.resolve()
  }
}
