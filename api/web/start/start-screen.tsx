import { useRef, useState } from 'preact/hooks'
import { asOne, take } from '../../http/answers.ts'
import type { Tools } from '../../operations/definitions/schemas.ts'
import type { AgentKind } from '../../operations/external/schemas.ts'
import { OWN_AGENT } from '../../operations/runs/own-agent.ts'
import type { StartRunInput } from '../../operations/runs/start-schemas.ts'
import { busy, run } from '../actions/command.ts'
import { CommandOutcome } from '../actions/outcome.tsx'
import { api } from '../client/api.ts'
import { person } from '../client/session.ts'
import { go, query } from '../page/router.ts'
import { useTitle } from '../page/title.ts'
import { Loaded, type Loading, useLoaded } from '../parts/loaded.tsx'
import { SavedMenu, savedUnder } from '../parts/saved-menu.tsx'
import { type Draft, draftIn, draftOf, requestOf, ruleField } from './draft.ts'
import { AgentField, ModelField, NumberField, RoleField, WorkspaceField } from './fields.tsx'
import { NO_SETTINGS, RecordedNotes } from './recorded-notes.tsx'
import type { RecordedSettings } from './recorded-settings.ts'
import { settingsFrom } from './run-again.ts'
import { ToolRules } from './tool-rules.tsx'

const templates = savedUnder('templates', (found): found is Draft => typeof found === 'object' && found !== null)

/** The tools that a run can have. The server connects to MCP servers for this, which can take long. */
async function askTools(): Promise<Tools> {
  const { tools, faults } = await take(api.v1.tools.$get())
  return { tools: tools.filter(({ control }) => !control), faults }
}

/** The folders of the last runs. Empty for a person who may not list runs: the log would record the refusal. */
async function lastFolders(): Promise<string[]> {
  const { rights } = await take(api.v1.access.me.$get({}))
  if (!rights.includes('runs.read')) return []
  const { runs } = await take(api.v1.runs.$get({ query: { limit: '100' } }))
  return [...new Set(runs.flatMap(({ workspace }) => workspace ?? []))]
}

/** The choices of the form, and the settings of the run that `from` names. */
async function offered(from: string | null) {
  const [{ roles }, { models }, workspaces] = await Promise.all([
    take(api.v1.roles.$get()),
    take(api.v1.models.$get()),
    lastFolders(),
  ])
  const settings: RecordedSettings = from === null ? NO_SETTINGS : await settingsFrom(from, roles)
  return { roles, models, workspaces, settings }
}
type Offered = Awaited<ReturnType<typeof offered>> & { readonly tools: Loading<Tools> }

/** The names of the listed tools. Null: the list is not loaded. */
const namesOf = (tools: Loading<Tools>): string[] | null =>
  tools !== null && 'value' in tools ? tools.value.tools.map(({ name }) => name) : null

/** Starts a run, from an empty form, a template, or the settings of the run that `from` of the URL names. */
export function StartScreen() {
  useTitle('Start a run')
  const from = query.value.get('from')
  const [round, setRound] = useState(0)
  const tools = useLoaded('tools', askTools, round)
  const found = useLoaded(from ?? '', () => offered(from), round)
  const failed = [tools, found].some((loading) => loading !== null && 'fault' in loading)
  return (
    <div class="screen">
      <Loaded of={found}>
        {(offer) => {
          const form = <StartForm key={from} offer={{ ...offer, tools }} />
          // The draft of a run has a rule for each listed tool.
          return from === null ? form : <Loaded of={tools}>{() => form}</Loaded>
        }}
      </Loaded>
      {failed && (
        <button type="button" onClick={() => setRound(round + 1)}>
          Load the lists again
        </button>
      )}
    </div>
  )
}

function StartForm({ offer }: { offer: Offered }) {
  const form = useRef<HTMLFormElement>(null)
  const [{ draft, settings, round }, setFilled] = useState(() => {
    const draft = offer.settings === NO_SETTINGS ? {} : draftOf(offer.settings.request, namesOf(offer.tools) ?? [])
    return { draft: draft as Draft, settings: offer.settings, round: 0 }
  })
  const agents = useLoaded('agents', () => take(api.v1.agents.$get()))
  const load = (draft: Draft) => setFilled({ draft, settings: NO_SETTINGS, round: round + 1 })
  // The form lacks the fields of a list that is not loaded, and the template would lack them too.
  const isLoading = [offer.tools, agents].some((list) => list === null || 'fault' in list)
  return (
    <>
      <div class="bar">
        <h1>Start a run</h1>
        <SavedMenu
          label="Templates"
          saved={templates}
          present={() => settingsIn(form.current!)}
          problem={
            isLoading
              ? 'The lists of tools and agents are not loaded.'
              : settings === NO_SETTINGS
                ? null
                : 'A template cannot contain the further settings of a run. Clear the form first.'
          }
          onOpen={load}
        />
        <button type="button" onClick={() => load({})}>
          Clear
        </button>
      </div>
      <CommandOutcome />
      <Fields key={round} {...{ offer, agents, draft, settings }} form={form} />
    </>
  )
}

/** The draft of a form without its task, which stays out of the browser's storage. */
function settingsIn(form: HTMLFormElement): Draft {
  const { task: _, ...settings } = draftIn(new FormData(form))
  return settings
}

interface FieldsProps {
  readonly offer: Offered
  readonly agents: Loading<{ readonly agents: readonly AgentKind[] }>
  readonly draft: Draft
  readonly settings: RecordedSettings
  readonly form: { current: HTMLFormElement | null }
}

function Fields({ offer, agents, draft, settings, form }: FieldsProps) {
  const [agent, setAgent] = useState(draft.agent ?? '')
  const listed = namesOf(offer.tools)
  const base = settings.request
  // Without the list of tools the request would lack the rules of the draft.
  const lacksRules = listed === null && Object.keys(draft).some((name) => name.startsWith(ruleField('')))
  const task = useRef<HTMLTextAreaElement>(null)
  const isOwn = agent === '' || agent === OWN_AGENT
  const checkTask = () =>
    task.current!.setCustomValidity(task.current!.value.trim() === '' ? 'Enter what the agent is to do.' : '')
  const start = async (event: Event) => {
    event.preventDefault()
    const filled = { ...draftIn(new FormData(form.current!)), ...(isOwn ? {} : { agent }) }
    const json = requestOf(filled, listed ?? [], person(), base)
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
          dir="auto"
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
              batch: calls may run at the same time, writes and commands do not ask
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
          <Loaded of={offer.tools}>{({ tools, faults }) => <ToolRules {...{ tools, faults, draft, base }} />}</Loaded>
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
              {draft.delegation === 'base' && (
                <option value="base" selected>
                  as in that run: {limitsText(base.delegation)}
                </option>
              )}
              <option value="none" selected={draft.delegation === 'none'}>
                none: it starts no others
              </option>
            </select>
          </label>
          <label>
            Instructions
            <textarea
              name="instructions"
              dir="auto"
              defaultValue={draft.instructions}
              placeholder="added to the system prompt"
            />
          </label>
        </>
      )}
      <RecordedNotes {...{ settings, draft, listed: listed ?? [] }} agent={isOwn ? undefined : agent} />
      <button type="submit" class="main" disabled={busy.value || lacksRules} onClick={checkTask}>
        Start
      </button>
    </form>
  )
}

const limitsText = (limits: StartRunInput['delegation']): string =>
  typeof limits === 'object' ? `${limits.agents} agents, ${limits.maxDepth} deep` : ''
