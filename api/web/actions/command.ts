import { effect, signal } from '@preact/signals'
import { told } from '../client/api.ts'
import { path } from '../page/router.ts'

/** How the last command of this page ended. */
export const outcome = signal<{ readonly ok: boolean; readonly text: string } | null>(null)
// It is about the screen on which it was given, or to which it leads.
effect(() => {
  path.value
  outcome.value = null
})

/** A command is under way; no second one is sent meanwhile. */
export const busy = signal(false)

/** Sends a command and says how it ended. True: it was recorded. */
export async function run(done: string, command: () => Promise<unknown>): Promise<boolean> {
  if (busy.value) return false
  busy.value = true
  try {
    await command()
    outcome.value = { ok: true, text: done }
    return true
  } catch (error) {
    outcome.value = { ok: false, text: told(error) }
    return false
  } finally {
    busy.value = false
  }
}
