import { describe, expect, it } from 'vitest'
import { createMetrics } from './index.ts'

describe('createMetrics', () => {
  it('renders what was counted in the Prometheus text format', async () => {
    const { metrics, render } = createMetrics()
    metrics.counter('upgradehub_x_total', 'Xs.', ['code']).inc({ code: 'ok' }, 2)
    metrics.gauge('upgradehub_y', 'Y.').set(7)
    metrics.histogram('upgradehub_z_seconds', 'Z.', [], [1, 2]).observe(1.5)
    const { contentType, body } = await render()
    expect(contentType).toContain('text/plain')
    expect(body).toContain('upgradehub_x_total{code="ok"} 2')
    expect(body).toContain('upgradehub_y 7')
    expect(body).toContain('upgradehub_z_seconds_bucket{le="2"} 1')
    expect(body).toContain('process_resident_memory_bytes')
  })

  it('gives the same series when a name is asked for twice', async () => {
    const { metrics, render } = createMetrics()
    metrics.counter('upgradehub_x_total', 'Xs.').inc()
    metrics.counter('upgradehub_x_total', 'Xs.').inc()
    expect((await render()).body).toContain('upgradehub_x_total 2')
  })

  it('refuses one name for two kinds', () => {
    const { metrics } = createMetrics()
    metrics.counter('upgradehub_x', 'X.')
    expect(() => metrics.gauge('upgradehub_x', 'X.')).toThrow(/another kind/)
  })

  it('counts label values beyond two hundred together, so that series stay bounded', async () => {
    const { metrics, render } = createMetrics()
    const counter = metrics.counter('upgradehub_x_total', 'Xs.', ['code'])
    for (let i = 0; i < 1000; i++) counter.inc({ code: `c${i}` })
    const { body } = await render()
    expect(body.match(/upgradehub_x_total\{/g)).toHaveLength(201)
    expect(body).toContain('upgradehub_x_total{code="other"} 800')
  })

  it('keeps two registries in one process apart', async () => {
    const one = createMetrics()
    const two = createMetrics()
    one.metrics.counter('upgradehub_x_total', 'Xs.').inc()
    expect((await two.render()).body).not.toContain('upgradehub_x_total')
  })
})
