import { Agent, request } from 'undici'
import { type Answer, type CallOptions, call as send } from '../harness/http.ts'
import { type Plane, until } from '../harness/index.ts'
import { JOBS } from './objects.ts'

type Method = Parameters<typeof send>[1]

/** What a plane answered to one request of a script, or what a watch of it saw. */
export interface Recorded {
  readonly label: string
  readonly status: number
  readonly warning: string
  readonly body: unknown
}

/** A sequence of requests; written once, sent to both planes, and only the plane differs. */
export type Script = (plane: Recorder, name: string) => Promise<void>

const WATCH_LIMIT_MS = 20_000

/** Sends the requests of a script to one plane and keeps every answer. */
export class Recorder {
  readonly answers: Recorded[] = []
  readonly #plane: Plane

  constructor(plane: Plane) {
    this.#plane = plane
  }

  /** One request; the answer is recorded under the label and returned for what a later request needs of it. */
  async call(label: string, method: Method, path: string, options: CallOptions = {}): Promise<Answer> {
    const answer = await send(this.#plane, method, path, options)
    this.answers.push({
      label: `${label}: ${method} ${path}`,
      status: answer.status,
      warning: [answer.headers.warning ?? []].flat().join(', '),
      body: answer.body,
    })
    return answer
  }

  /** A request whose path holds a token of the plane: it is recorded without it. */
  async page(label: string, path: string): Promise<Answer> {
    const answer = await send(this.#plane, 'GET', path)
    this.answers.push({ label, status: answer.status, warning: '', body: answer.body })
    return answer
  }

  /** Sends what only prepares a script and is not compared; it must succeed. */
  async prepare(method: Method, path: string, options: CallOptions = {}): Promise<Answer> {
    const answer = await send(this.#plane, method, path, options)
    if (answer.status >= 300)
      throw new Error(`${this.#plane.name}: ${method} ${path}: ${JSON.stringify(answer.body)}`)
    return answer
  }

  /** Asks again until the answer is the one that is waited for. Not recorded: how long a plane takes is its own. */
  async until(what: string, path: string, wanted: (answer: Answer) => boolean): Promise<void> {
    await until(`${this.#plane.name}: ${what}`, async () => wanted(await send(this.#plane, 'GET', path)))
  }

  /** Records a fact that is no answer, such as what a webhook was asked. */
  note(label: string, body: unknown): void {
    this.answers.push({ label, status: 0, warning: '', body })
  }

  /** Creates the object by dry run until the webhook has been asked about it: a plane learns of webhooks in its time. */
  async asked(what: string, webhook: { readonly reviews: readonly unknown[] }, body: object): Promise<void> {
    await this.#probe(what, body, () => webhook.reviews.length > 0)
  }

  /** Creates the object by dry run until that is refused. */
  async refused(what: string, body: object): Promise<void> {
    await this.#probe(what, body, ({ status }) => status >= 400)
  }

  /** Creates the object by dry run until that is accepted. */
  async accepted(what: string, body: object): Promise<void> {
    await this.#probe(what, body, ({ status }) => status < 300)
  }

  async #probe(what: string, body: object, wanted: (answer: Answer) => boolean): Promise<void> {
    await until(`${this.#plane.name}: ${what}`, async () =>
      wanted(await send(this.#plane, 'POST', `${JOBS}?dryRun=All`, { body })),
    )
  }

  /**
   * Opens a watch, runs `act` while it is open, and records its events up to the one that tells of `until` (the name
   * of an object that `act` makes last). Bookmarks are left out but for the one that ends the initial events.
   */
  async watch(label: string, path: string, { until, act }: WatchPlan): Promise<void> {
    const agent = new Agent({ connect: { ca: this.#plane.caPem } })
    try {
      const response = await request(`${this.#plane.url}${path}`, {
        dispatcher: agent,
        signal: AbortSignal.timeout(WATCH_LIMIT_MS),
        headers: { authorization: `Bearer ${this.#plane.users.admin.token}`, accept: 'application/json' },
      })
      const events = collect(response.body, until)
      await act()
      this.answers.push({ label, status: response.statusCode, warning: '', body: await events })
    } finally {
      await agent.destroy()
    }
  }
}

interface WatchPlan {
  readonly until: string
  readonly act: () => Promise<void>
}

interface WatchEvent {
  readonly type: string
  readonly object: {
    readonly metadata?: { readonly name?: string; readonly annotations?: Record<string, string> }
  }
}

async function collect(stream: AsyncIterable<Buffer>, until: string): Promise<readonly WatchEvent[]> {
  const events: WatchEvent[] = []
  let rest = ''
  for await (const chunk of stream) {
    const lines = `${rest}${chunk.toString()}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const event = JSON.parse(line) as WatchEvent
      if (event.type !== 'BOOKMARK' || event.object.metadata?.annotations) events.push(event)
      if (event.type === 'ERROR' || event.object.metadata?.name === until) return events
    }
  }
  return events
}
