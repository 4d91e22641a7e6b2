import type { Plugin } from './cli/help.ts'
import { approve } from './control/approve.ts'
import { hold } from './control/hold.ts'
import { retry } from './control/retry.ts'
import { cancel, pause, resume } from './control/verbs.ts'
import { create } from './create/create.ts'
import { doctor } from './doctor/doctor.ts'
import { history } from './past/history.ts'
import { logs } from './past/logs.ts'
import { plan } from './plan/plan.ts'
import { status } from './status/status.ts'
import { watch } from './watch/watch.ts'
import { why } from './why/why.ts'

/** The programs, by their file's name without `kubectl-`. */
export const PLUGINS: Readonly<Record<string, Plugin>> = {
  nodeupgrade: {
    title: 'kubectl nodeupgrade',
    summary: 'sees and steers upgrades of edge nodes',
    commands: [status, watch, plan, why, pause, resume, approve, retry, cancel, hold, history, logs, doctor],
  },
  'create-nodeupgradejob': {
    title: 'kubectl create nodeupgradejob',
    summary: 'makes a job that upgrades edge nodes',
    commands: [create],
  },
}
