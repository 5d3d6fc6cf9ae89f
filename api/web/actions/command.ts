import { effect, signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { errorText } from '../client/api.ts'
import { path } from '../page/router.ts'

/** The result of the last command of this page. */
export const lastOutcome = signal<{ readonly ok: boolean; readonly text: ComponentChildren } | null>(null)
// Navigation clears the result, because it refers to the previous screen.
effect(() => {
  path.value
  lastOutcome.value = null
})

/** True while a command is being sent. {@link run} then refuses a second one. */
export const busy = signal(false)

/** Sends a command and shows its result, with the note of the answer. True: the server recorded the command. */
export async function run(done: ComponentChildren, command: () => Promise<unknown>): Promise<boolean> {
  if (busy.value) return false
  busy.value = true
  try {
    const note = ((await command()) as { readonly note?: string } | undefined)?.note
    lastOutcome.value = { ok: true, text: note === undefined ? done : [done, ` ${note}.`] }
    return true
  } catch (error) {
    lastOutcome.value = { ok: false, text: errorText(error) }
    return false
  } finally {
    busy.value = false
  }
}
