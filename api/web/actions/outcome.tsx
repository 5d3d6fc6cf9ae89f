import { lastOutcome } from './command.ts'

/** The result of the last command, also announced to screen readers. */
export function CommandOutcome() {
  const told = lastOutcome.value
  return (
    <div class="outcome" role="status" aria-live="polite">
      {told !== null && (
        <p class={told.ok ? 'good' : 'bad'}>
          {told.text}{' '}
          <button type="button" class="link" onClick={() => (lastOutcome.value = null)}>
            ok
          </button>
        </p>
      )}
    </div>
  )
}
