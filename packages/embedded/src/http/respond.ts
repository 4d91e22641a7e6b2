import type { ServerResponse } from 'node:http'
import { stringify as toYaml } from 'yaml'
import type { JsonObject } from '../json.ts'

const MAX_WARNINGS = 32

export interface Answer {
  readonly status: number
  readonly body: JsonObject
  readonly yaml?: boolean
  readonly contentType?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends JSON (or YAML) with the warnings that came up. */
export function respond(response: ServerResponse, answer: Answer, warnings: readonly string[] = []): void {
  const text = answer.yaml ? toYaml(answer.body) : JSON.stringify(answer.body)
  const type = answer.contentType ?? (answer.yaml ? 'application/yaml' : 'application/json')
  if (warnings.length > 0) {
    response.setHeader('warning', [...new Set(warnings)].slice(0, MAX_WARNINGS).map(warningHeader))
  }
  response.writeHead(answer.status, {
    'content-type': type,
    'cache-control': 'no-cache, private',
    'content-length': Buffer.byteLength(text),
    ...answer.headers,
  })
  response.end(text)
}

export function respondText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-cache, private',
  })
  response.end(text)
}

/** RFC 7234 warn-text is a quoted string of visible ASCII. */
function warningHeader(text: string): string {
  const ascii = text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 1024)
  return `299 - "${ascii.replaceAll(/["\\]/g, '\\$&')}"`
}
