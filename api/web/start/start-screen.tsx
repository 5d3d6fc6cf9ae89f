import { useRef, useState } from 'preact/hooks'
import { asOne, take } from '../../http/answers.ts'
import type { Tools } from '../../operations/definitions/schemas.ts'
import { OWN_AGENT } from '../../operations/runs/own-agent.ts'
import { busy, run } from '../actions/command.ts'
import { CommandOutcome } from '../actions/outcome.tsx'
import { api } from '../client/api.ts'
import { person } from '../client/session.ts'
import { go, query } from '../page/router.ts'
import { useTitle } from '../page/title.ts'
import { Loaded, type Loading, useLoaded } from '../parts/loaded.tsx'
import { SavedMenu, savedUnder } from '../parts/saved-menu.tsx'
import { type Draft, draftIn, requestOf, ruleField } from './draft.ts'
import { AgentField, ModelField, NumberField, RoleField, WorkspaceField } from './fields.tsx'
import { draftFrom } from './run-again.ts'
import { ToolRules } from './tool-rules.tsx'

const templates = savedUnder('keepup-templates', (found): found is Draft => typeof found === 'object' && found !== null)

/** The tools that a run can have. The server connects to MCP servers for this, which can take long. */
async function askTools(): Promise<Tools> {
  const { tools, faults } = await take(api.v1.tools.$get())
  return { tools: tools.filter(({ control }) => !control), faults }
}

/** The choices of the form, and its first draft. */
async function offered(from: string | null, tools: Promise<Tools>) {
  const [{ roles }, { models }, { runs }] = await Promise.all([
    take(api.v1.roles.$get()),
    take(api.v1.models.$get()),
    take(api.v1.runs.$get({ query: { limit: '100' } })),
  ])
  const workspaces = [...new Set(runs.flatMap(({ workspace }) => workspace ?? []))]
  const draft: Draft = from === null ? {} : await draftFrom(from, namesOf((await tools).tools), roles)
  return { roles, models, workspaces, draft }
}
type Offered = Awaited<ReturnType<typeof offered>> & { readonly tools: Loading<Tools> }

const namesOf = (tools: Tools['tools']): string[] => tools.map(({ name }) => name)

/** Starts a run, from an empty form, a template, or the settings of the run that `from` of the URL names. */
export function StartScreen() {
  useTitle('Start a run')
  const from = query.value.get('from')
  const [asked] = useState(askTools)
  const tools = useLoaded('tools', () => asked)
  const found = useLoaded(from ?? '', () => offered(from, asked))
  return (
    <div class="screen">
      <Loaded of={found}>{(offer) => <StartForm key={from} offer={{ ...offer, tools }} />}</Loaded>
    </div>
  )
}

function StartForm({ offer }: { offer: Offered }) {
  const form = useRef<HTMLFormElement>(null)
  const [{ draft, round }, setDraft] = useState({ draft: offer.draft, round: 0 })
  const load = (draft: Draft) => setDraft({ draft, round: round + 1 })
  return (
    <>
      <div class="bar">
        <h1>Start a run</h1>
        <SavedMenu
          label="Templates"
          saved={templates}
          present={() => draftIn(new FormData(form.current!))}
          onOpen={load}
        />
        <button type="button" onClick={() => load({})}>
          Clear
        </button>
      </div>
      <CommandOutcome />
      <Fields key={round} {...{ offer, draft }} form={form} />
    </>
  )
}

interface FieldsProps {
  readonly offer: Offered
  readonly draft: Draft
  readonly form: { current: HTMLFormElement | null }
}

function Fields({ offer, draft, form }: FieldsProps) {
  const [agent, setAgent] = useState(draft.agent ?? '')
  const agents = useLoaded('agents', () => take(api.v1.agents.$get()))
  const tools = offer.tools !== null && 'value' in offer.tools ? offer.tools.value.tools : null
  // Without the list of tools the request would lack the rules of the draft.
  const lacksRules = tools === null && Object.keys(draft).some((name) => name.startsWith(ruleField('')))
  const task = useRef<HTMLTextAreaElement>(null)
  const isOwn = agent === '' || agent === OWN_AGENT
  const checkTask = () =>
    task.current!.setCustomValidity(task.current!.value.trim() === '' ? 'Enter what the agent is to do.' : '')
  const start = async (event: Event) => {
    event.preventDefault()
    const filled = { ...draftIn(new FormData(form.current!)), ...(isOwn ? {} : { agent }) }
    const json = requestOf(filled, namesOf(tools ?? []), person())
    await run('Started.', async () => {
      const { runId } = await take(api.v1.runs.$post({ header: asOne(), json }))
      go(`/runs/${runId}`)
    })
  }
  return (
    <form ref={form} class="form start" onSubmit={start}>
      <label>
        Task
        <textarea
          ref={task}
          name="task"
          defaultValue={draft.task}
          placeholder="Make the failing test pass"
          required
          onInput={checkTask}
        />
      </label>
      <Loaded of={agents}>{({ agents }) => <AgentField {...{ agents, agent }} onChange={setAgent} />}</Loaded>
      {isOwn && <RoleField roles={offer.roles} role={draft.role} />}
      <ModelField models={offer.models} model={draft.model} />
      <WorkspaceField workspaces={offer.workspaces} workspace={draft.workspace} required={!isOwn} />
      {isOwn && (
        <label>
          Mode
          <select name="mode">
            <option value="">interactive: one step at a time, writes and commands ask</option>
            <option value="batch" selected={draft.mode === 'batch'}>
              batch
            </option>
          </select>
        </label>
      )}
      <fieldset class="limits">
        <legend>Limits</legend>
        <NumberField name="dollars" label="Budget $" value={draft.dollars} decimal placeholder="none" />
        <NumberField name="tokens" label="Tokens" value={draft.tokens} placeholder="none" />
        {isOwn && <NumberField name="turns" label="Turns" value={draft.turns} placeholder="as its role" />}
        <NumberField name="minutes" label="Minutes" value={draft.minutes} decimal placeholder="none" />
      </fieldset>
      {isOwn && (
        <>
          <Loaded of={offer.tools}>{({ tools, faults }) => <ToolRules {...{ tools, faults, draft }} />}</Loaded>
          <label>
            Secrets, by name
            <input
              name="secrets"
              class="mono"
              defaultValue={draft.secrets}
              placeholder="NAME, NAME=@host:api.example.com"
            />
          </label>
          <label>
            Other agents below it
            <select name="delegation">
              <option value="">as the settings say</option>
              <option value="none" selected={draft.delegation === 'none'}>
                none: it starts no others
              </option>
            </select>
          </label>
          <label>
            Instructions
            <textarea name="instructions" defaultValue={draft.instructions} placeholder="added to the system prompt" />
          </label>
        </>
      )}
      <button type="submit" class="main" disabled={busy.value || lacksRules} onClick={checkTask}>
        Start
      </button>
    </form>
  )
}
