import { effect, signal } from '@preact/signals'
import { errorText } from '../client/api.ts'
import { path } from '../page/router.ts'

/** The result of the last command of this page. */
export const lastOutcome = signal<{ readonly ok: boolean; readonly text: string } | null>(null)
// Navigation clears the result, because it refers to the previous screen.
effect(() => {
  path.value
  lastOutcome.value = null
})

/** True while a command is being sent. {@link run} then refuses a second one. */
export const busy = signal(false)

/** Sends a command and shows its result. True: the server recorded the command. */
export async function run(done: string, command: () => Promise<unknown>): Promise<boolean> {
  if (busy.value) return false
  busy.value = true
  try {
    await command()
    lastOutcome.value = { ok: true, text: done }
    return true
  } catch (error) {
    lastOutcome.value = { ok: false, text: errorText(error) }
    return false
  } finally {
    busy.value = false
  }
}
