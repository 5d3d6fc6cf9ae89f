import { useEffect, useRef, useState } from 'preact/hooks'
import { Throttle } from './throttle.ts'

/** A value that changes often, at most once in each pause (in ms). */
export function useThrottled<T>(value: T, pause: number): T {
  const [seen, setSeen] = useState(value)
  const last = useRef(value)
  const throttle = useRef<Throttle | null>(null)
  last.current = value
  useEffect(() => {
    const made = new Throttle(() => setSeen(last.current), pause)
    throttle.current = made
    return () => made.stop()
  }, [pause])
  useEffect(() => throttle.current?.request(), [value])
  return seen
}
