import { asOne, take } from '../../http/answers.ts'
import { api } from '../client/api.ts'
import { person } from '../client/session.ts'
import { go } from '../page/router.ts'
import { useTitle } from '../page/title.ts'
import { Loaded, useLoaded } from '../parts/loaded.tsx'
import { busy, run } from './command.ts'
import { CommandOutcome } from './outcome.tsx'

/** Reads a form member. Empty members are undefined. */
const filled = (form: FormData) => (name: string) => String(form.get(name) ?? '').trim() || undefined

/** Starts a run. The server's settings apply to empty members. */
export function StartScreen() {
  useTitle('Start a run')
  const roles = useLoaded('roles', () => take(api.v1.roles.$get()))
  const start = async (event: Event) => {
    event.preventDefault()
    const of = filled(new FormData(event.currentTarget as HTMLFormElement))
    const usd = Number(of('budget') ?? Number.NaN)
    const mode = of('mode') as 'interactive' | 'batch' | undefined
    const members = { task: of('task'), role: of('role'), model: of('model'), workspace: of('workspace') }
    const given = Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
    const json = {
      ...given,
      by: person(),
      ...(mode === undefined ? {} : { policy: { mode } }),
      ...(usd > 0 ? { budget: { nanoDollars: Math.round(usd * 1e9) } } : {}),
    }
    await run('Started.', async () => {
      const { runId } = await take(api.v1.runs.$post({ header: asOne(), json }))
      go(`/runs/${runId}`)
    })
  }
  return (
    <div class="screen">
      <div class="bar">
        <h1>Start a run</h1>
      </div>
      <CommandOutcome />
      <form class="form start" onSubmit={start}>
        <label>
          Task
          <textarea name="task" placeholder="Make the failing test pass" />
        </label>
        <label for="role">Role</label>
        <Loaded of={roles}>
          {({ roles: known }) => (
            <select id="role" name="role">
              <option value="">none</option>
              {known.map(({ name }) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Loaded>
        <label>
          Model
          <input name="model" placeholder="as the settings say" />
        </label>
        <label>
          Folder on the server’s computer
          <input name="workspace" placeholder="/home/me/my-project" />
        </label>
        <label>
          Mode
          <select name="mode">
            <option value="">interactive: one step at a time, writes and commands ask</option>
            <option value="batch">batch</option>
          </select>
        </label>
        <label>
          Budget $
          <input name="budget" class="narrow" inputMode="decimal" placeholder="none" />
        </label>
        <button type="submit" class="main" disabled={busy.value}>
          Start
        </button>
      </form>
    </div>
  )
}
