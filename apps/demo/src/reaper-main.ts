import { reap } from './reaper.ts'

const folder =
  process.argv.find((argument) => argument.startsWith('--folder='))?.slice('--folder='.length) ?? ''
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined)
process.stdin.resume()
process.stdin.once('close', () => {
  void reap(folder)
})
