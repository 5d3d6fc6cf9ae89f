import type { ComponentChildren } from 'preact'
import { useEffect, useErrorBoundary } from 'preact/hooks'
import { shown } from '../parts/shown.ts'
import { query } from './router.ts'

/** Shows a notice instead of a screen whose rendering throws. The rest of the page continues to work. */
export function Guard({ children }: { children: ComponentChildren }) {
  const [error, again] = useErrorBoundary((thrown) => console.error(thrown))
  const which = query.value
  useEffect(() => {
    if (error !== undefined) again()
  }, [which])
  if (error === undefined) return <>{children}</>
  return (
    <div class="notice" role="alert">
      <h1>This screen cannot be drawn</h1>
      <p>{shown(String(error instanceof Error ? error.message : error))}</p>
      <p>
        What is recorded is not changed by this: <code>keepup</code> shows it on the command line.{' '}
        <button type="button" onClick={again}>
          Draw it again
        </button>
      </p>
    </div>
  )
}
