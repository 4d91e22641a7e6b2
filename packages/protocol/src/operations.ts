/** The operations of the session: the wire's word for a kind of frame. */
export const OPERATION = {
  hello: 'hello',
  welcome: 'welcome',
  keepalive: 'keepalive',
  prepare: 'upgrade',
  proceed: 'proceed',
  cancel: 'cancel',
  answer: 'answer',
  progress: 'UpdateNodeActionStatus',
  result: 'result',
  stored: 'stored',
  goAway: 'goAway',
  error: 'error',
} as const
export type Operation = (typeof OPERATION)[keyof typeof OPERATION]

/** `upgrade/{upgradeID}/node/{node}`, the resource of every frame about a task. */
export function taskResource(upgradeID: string, node: string): string {
  return `upgrade/${upgradeID}/node/${node}`
}

/** What an edge may say of itself in `hello.capabilities`; unknown words are ignored. */
export const CAPABILITY = {
  /** No kubelet speaks for this node: the hub creates its Node and Lease (the edge's `registerNode: true`). */
  registerNode: 'registerNode',
} as const
