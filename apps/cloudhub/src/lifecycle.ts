/** How a process is told to end; a test gives an emitter. */
export interface SignalSource {
  on(signal: 'SIGTERM' | 'SIGINT', listener: () => void): unknown
  off(signal: 'SIGTERM' | 'SIGINT', listener: () => void): unknown
}

/**
 * Aborts at the first SIGTERM or SIGINT. From then on nobody listens, so that a second one ends the process at once, as
 * the system does it: for an operator who does not want to wait.
 */
export function stopSignal(source: SignalSource): AbortSignal {
  const asked = new AbortController()
  const ask = () => {
    source.off('SIGTERM', ask)
    source.off('SIGINT', ask)
    asked.abort(new Error('the process was asked to stop'))
  }
  source.on('SIGTERM', ask)
  source.on('SIGINT', ask)
  return asked.signal
}
