import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Kubectl, type Plane, run, type UserName, writeKubeconfig } from '../../harness/index.ts'
import { Program } from '../../harness/program.ts'

const PLUGINS = fileURLToPath(new URL('../../../apps/kubectl-plugins/bin', import.meta.url))

/** A person at a terminal with the plugins on PATH. */
export class PluginUser {
  readonly #kubectl: Kubectl
  readonly #env: Readonly<Record<string, string | undefined>>

  constructor(plane: Plane, kubectl: Kubectl, as: UserName = 'admin') {
    this.#kubectl = kubectl
    this.#env = {
      ...process.env,
      PATH: `${PLUGINS}:${dirname(process.execPath)}:${process.env['PATH']}`,
      KUBECONFIG: as === 'admin' ? plane.kubeconfigPath : writeKubeconfig(plane, as),
      KUBECACHEDIR: join(plane.folder, 'kubectl'),
    }
  }

  run(args: readonly string[], input?: string) {
    return run([this.#kubectl.path, ...args], {
      env: this.#env,
      ...(input === undefined ? {} : { input }),
      timeoutMs: 120_000,
    })
  }

  /** What it said; throws for another exit code. */
  async ends(code: number, args: readonly string[], input?: string): Promise<string> {
    const answer = await this.run(args, input)
    if (answer.code !== code)
      throw new Error(`kubectl ${args.join(' ')} ended with ${answer.code}, not ${code}:\n${answer.output}`)
    return code === 0 ? answer.stdout : answer.output
  }

  /** Starts it and lets it run. */
  start(args: readonly string[]): Program {
    return new Program(`kubectl ${args[0]}`, [this.#kubectl.path, ...args], { env: this.#env })
  }
}
