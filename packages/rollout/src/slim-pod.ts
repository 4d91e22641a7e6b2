/** As much of a Pod as a drain asks for. */
export interface Pod {
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly uid?: string
    readonly deletionTimestamp?: string
    readonly annotations?: Readonly<Record<string, string>>
    readonly ownerReferences?: readonly { readonly kind: string; readonly controller?: boolean }[]
  }
  readonly spec?: { readonly volumes?: readonly { readonly name: string; readonly emptyDir?: unknown }[] }
  readonly status?: { readonly phase?: string }
}

/** A pod that is in the way of a drain. */
export interface SlimPod {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** It is going already. */
  readonly isGoing: boolean
  readonly isManaged: boolean
  readonly hasData: boolean
}

const MIRROR = 'kubernetes.io/config.mirror'

/** The pods that must go from a node; those of DaemonSets, mirrors of static ones, and ended ones need not. */
export function podsInTheWay(pods: readonly Pod[]): SlimPod[] {
  return pods.filter((pod) => !stays(pod)).map(slimPod)
}

function slimPod({ metadata, spec }: Pod): SlimPod {
  return {
    namespace: metadata.namespace ?? 'default',
    name: metadata.name,
    uid: metadata.uid ?? '',
    isGoing: metadata.deletionTimestamp !== undefined,
    isManaged: metadata.ownerReferences?.some(({ controller }) => controller) ?? false,
    hasData: spec?.volumes?.some(({ emptyDir }) => emptyDir !== undefined) ?? false,
  }
}

function stays({ metadata, status }: Pod): boolean {
  const ofDaemonSet = metadata.ownerReferences?.some(
    ({ kind, controller }) => controller && kind === 'DaemonSet',
  )
  const isMirror = metadata.annotations?.[MIRROR] !== undefined
  const isOver = status?.phase === 'Succeeded' || status?.phase === 'Failed'
  return ofDaemonSet || isMirror || isOver
}
