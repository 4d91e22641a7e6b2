import { type RequestOptions, request } from 'node:https'

export interface HttpsAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: Buffer
  readonly text: string
}

export interface HttpsCall {
  readonly port: number
  readonly path: string
  readonly ca: string
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string | Uint8Array
  readonly cert?: string
  readonly key?: string
}

/** One request on a connection of its own, with the server's certificate verified. */
export function callHttps(call: HttpsCall): Promise<HttpsAnswer> {
  const { body, method, ...rest } = call
  const options: RequestOptions = {
    ...rest,
    host: '127.0.0.1',
    servername: 'localhost',
    agent: false,
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
      ...call.headers,
    },
  }
  return new Promise((resolve, reject) => {
    const outgoing = request(options, (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('error', reject)
      incoming.on('end', () => {
        const bytes = Buffer.concat(chunks)
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          body: bytes,
          text: bytes.toString(),
        })
      })
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
