import { useEffect, useState } from 'preact/hooks'
import type { EventView } from '../../operations/events/schemas.ts'
import { listen } from '../client/feed.ts'
import { Throttle } from './throttle.ts'

/**
 * The round for a loaded value that events change, and a function that begins the next one. A new round begins at most
 * once in `pause` ms, after an event that `matters` and after an interruption of the event stream.
 */
export function useRound(
  pause: number,
  matters: (event: EventView) => boolean = () => true,
): readonly [round: number, again: () => void] {
  const [round, setRound] = useState(0)
  const again = () => setRound((n) => n + 1)
  useEffect(() => {
    const throttle = new Throttle(again, pause)
    const leave = listen({
      event: (event) => matters(event) && throttle.request(),
      connected: () => throttle.request(),
    })
    return () => {
      leave()
      throttle.stop()
    }
  }, [])
  return [round, again]
}
