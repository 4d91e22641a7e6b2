import { beforeEach, describe, expect, it } from 'vitest'
import { Reporter } from './reporter.ts'
import { answerOf, progressOf, viewOf } from './testing/views.ts'

let sent: { operation: string; resource: string; content: unknown }[]
let isConnected: boolean
let reporter: Reporter
beforeEach(() => {
  sent = []
  isConnected = true
  reporter = new Reporter('edge-1', (operation, resource, content) => {
    if (isConnected) sent.push({ operation, resource, content })
    return isConnected
  })
})

describe('Reporter', () => {
  it('sends each action once and then the last word, and again when they change', () => {
    const running = progressOf()
    const view = viewOf({ answer: answerOf('prepared'), actions: [running] })
    expect(reporter.report(view)).toBe(true)
    reporter.report(view)
    expect(sent).toEqual([
      { operation: 'UpdateNodeActionStatus', resource: 'upgrade/job/node/edge-1', content: running },
      { operation: 'answer', resource: 'upgrade/job/node/edge-1', content: answerOf('prepared') },
    ])
    const ended = progressOf({ Seq: 4, Final: true })
    reporter.report({ ...view, answer: answerOf('done', 2), actions: [ended] })
    expect(sent.slice(2).map(({ content }) => content)).toEqual([ended, answerOf('done', 2)])
  })

  it('does not repeat `accepted`, which was said when the intent came', () => {
    expect(reporter.report(viewOf({ answer: answerOf('accepted') }))).toBe(true)
    expect(sent).toEqual([])
  })

  it('keeps due what could not be sent', () => {
    const view = viewOf({ answer: answerOf('prepared'), actions: [progressOf()] })
    isConnected = false
    expect(reporter.report(view)).toBe(false)
    isConnected = true
    expect(reporter.report(view)).toBe(true)
    expect(sent).toHaveLength(2)
  })

  it('tells a new session everything again', () => {
    const view = viewOf({ answer: answerOf('prepared') })
    reporter.report(view)
    reporter.forgetAll()
    reporter.report(view)
    expect(sent).toHaveLength(2)
  })

  it('sends the numbers of a download at most every 5 s, and none without a running action', () => {
    const view = viewOf({ actions: [progressOf()] })
    const download = { percent: 10, bytes: 1000 }
    reporter.reportDownload(viewOf({ actions: [progressOf({ Final: true })] }), download, 0)
    reporter.reportDownload(view, download, 0)
    reporter.reportDownload(view, { percent: 20, bytes: 2000 }, 4_999)
    reporter.reportDownload(view, { percent: 30, bytes: 3000 }, 5_000)
    expect(sent.map(({ content }) => content)).toEqual([
      progressOf({ Percent: 10, Bytes: 1000 }),
      progressOf({ Percent: 30, Bytes: 3000 }),
    ])
  })
})
