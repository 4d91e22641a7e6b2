import type { Plugin } from './cli/help.ts'
import { cancel, pause, resume } from './control/verbs.ts'
import { create } from './create/create.ts'
import { status } from './status/status.ts'
import { watch } from './watch/watch.ts'

/** The programs, by their file's name without `kubectl-`. */
export const PLUGINS: Readonly<Record<string, Plugin>> = {
  nodeupgrade: {
    title: 'kubectl nodeupgrade',
    summary: 'sees and steers upgrades of edge nodes',
    commands: [status, watch, pause, resume, cancel],
  },
  'create-nodeupgradejob': {
    title: 'kubectl create nodeupgradejob',
    summary: 'makes a job that upgrades edge nodes',
    commands: [create],
  },
}
