import { outcome } from './command.ts'

/** The result of the last command, also announced to screen readers. */
export function Outcome() {
  const told = outcome.value
  return (
    <div class="outcome" role="status" aria-live="polite">
      {told !== null && (
        <p class={told.ok ? 'good' : 'bad'}>
          {told.text}{' '}
          <button type="button" class="link" onClick={() => (outcome.value = null)}>
            ok
          </button>
        </p>
      )}
    </div>
  )
}
