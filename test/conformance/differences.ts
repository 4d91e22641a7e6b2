import type { Recorded } from './recorder.ts'

/** A place where the embedded API answers otherwise than kube-apiserver, and means to. */
export interface KnownDifference {
  /** Which answers it is about: a part of their label. */
  readonly at: RegExp
  /** Why it is so, for the reader of the list. */
  readonly reason: string
  /** Takes what is known to differ out of an answer of either plane. */
  readonly forgive: (answer: Recorded) => Recorded
}

/** A body without a field, wherever it stands. */
function without(field: string) {
  const drop = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(drop)
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value).filter(([key]) => key !== field)
    return Object.fromEntries(entries.map(([key, item]) => [key, drop(item)]))
  }
  return (answer: Recorded): Recorded => ({ ...answer, body: drop(answer.body) })
}

/** Reviews without the uid of who asked; the uids of objects stay. */
function withoutUserUid(answer: Recorded): Recorded {
  const reviews = answer.body as readonly { request: { userInfo: Readonly<Record<string, unknown>> } }[]
  const body = reviews.map((review) => {
    const { uid: _, ...userInfo } = review.request.userInfo
    return { ...review, request: { ...review.request, userInfo } }
  })
  return { ...answer, body }
}

/** A Status without its sentence, which repeats the causes. */
const withoutSentence = without('message')

/** Causes without the note that rules were skipped because the metadata alone was wrong. */
function withoutSkippedRules(answer: Recorded): Recorded {
  const { message: _, ...body } = answer.body as {
    details?: { causes?: readonly { message: string }[] }
    message?: string
  }
  const causes = body.details?.causes?.filter(
    ({ message }) => !message.includes('some validation rules were not checked'),
  )
  return { ...answer, body: { ...body, details: { ...body.details, causes } } }
}

/** A node without the taint that an admission plugin of kube-apiserver gives to every new one. */
function withoutNotReady(answer: Recorded): Recorded {
  const node = answer.body as { spec?: { taints?: readonly { key: string }[] } }
  const taints = node.spec?.taints?.filter(({ key }) => key !== 'node.kubernetes.io/not-ready')
  if (taints === undefined) return answer
  const { taints: _, ...spec } = node.spec ?? {}
  return { ...answer, body: { ...node, spec: taints.length === 0 ? spec : { ...spec, taints } } }
}

/** What a group serves, in the order of the names. */
function inOrder(answer: Recorded): Recorded {
  const { resources, ...rest } = answer.body as {
    resources?: readonly { name: string; verbs: readonly string[] }[]
  }
  if (resources === undefined) return answer
  const sorted = resources.map((resource) => ({ ...resource, verbs: resource.verbs.toSorted() }))
  return { ...answer, body: { ...rest, resources: sorted.toSorted((a, b) => (a.name < b.name ? -1 : 1)) } }
}

/** Everything that is known to differ. A difference that is not here fails the comparison. */
const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  {
    at: /^rule: /,
    reason: 'Another CEL compiler words its errors in its own way; field and reason are the same.',
    forgive: withoutSentence,
  },
  {
    at: /^(nothing stored|a version twice): POST .*\/customresourcedefinitions/,
    reason:
      'kube-apiserver shows bad lists of versions as Go prints its own structs; field and reason are the same.',
    forgive: withoutSentence,
  },
  {
    at: /^a condition that does not compile: /,
    reason: 'Another CEL compiler words its errors in its own way; field and reason are the same.',
    forgive: withoutSentence,
  },
  {
    at: /^fail: POST .*\/nodeupgradejobs/,
    reason: 'Node words a refused connection in its own way.',
    forgive: withoutSentence,
  },
  {
    at: /^what the webhook was asked/,
    reason: 'The users of the embedded API have names and groups, no uids.',
    forgive: withoutUserUid,
  },
  {
    at: /^established: GET .*\/customresourcedefinitions/,
    reason: 'The status of a definition is our own work and has no manager.',
    forgive: without('managedFields'),
  },
  {
    at: /^nobody in particular: /,
    reason:
      'The embedded API serves one hub and its operator on one machine: who has a token may do everything.',
    forgive: ({ label }) => ({ label, status: 0, warning: '', body: null }),
  },
  {
    at: /^an administrator: POST .*\/selfsubjectaccessreviews/,
    reason: 'A review is never stored and nobody owns its fields.',
    forgive: without('managedFields'),
  },
  {
    at: / \/api\/v1\/nodes/,
    reason: 'No scheduler reads the embedded API, so nothing taints a node until its agent has spoken.',
    forgive: withoutNotReady,
  },
  {
    at: /^(strategic|plain JSON): PATCH .*\/nodeupgradejobs/,
    reason: 'Server-side apply is not served yet, so its media type is not among those that are accepted.',
    forgive: withoutSentence,
  },
  {
    at: /^a list: POST .*\/nodeupgradejobs/,
    reason:
      'kube-apiserver shows what it could not read as Go prints its own structs; status and reason are the same.',
    forgive: withoutSentence,
  },
  {
    at: /^(no name|a bad owner|generated): POST .*\/nodeupgradejobs/,
    reason:
      'kube-apiserver notes that it skipped rules because of the metadata; the causes themselves are the same.',
    forgive: withoutSkippedRules,
  },
  {
    at: /^no token: GET /,
    reason: 'Our continue tokens are of another make, and so is what is wrong with a broken one.',
    forgive: withoutSentence,
  },
  {
    at: /^no such method on one: POST /,
    reason:
      'kube-apiserver reads the body before it looks at the method of a single object; we refuse the method first.',
    forgive: ({ label }) => ({ label, status: 0, warning: '', body: null }),
  },
  {
    at: /^resources of /,
    reason: 'The hash of the storage version means something only among several API servers with one store.',
    forgive: without('storageVersionHash'),
  },
  {
    at: /^resources of /,
    reason: 'The order of resources and verbs says nothing.',
    forgive: inOrder,
  },
]

/** An answer without what is known to differ. */
export function forgiven(answer: Recorded): Recorded {
  return KNOWN_DIFFERENCES.filter(({ at }) => at.test(answer.label)).reduce(
    (rest, { forgive }) => forgive(rest),
    answer,
  )
}
