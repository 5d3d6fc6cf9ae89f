import { useState } from 'preact/hooks'
import type { Role } from '../../operations/definitions/schemas.ts'
import type { AgentKind } from '../../operations/external/schemas.ts'
import type { Models } from '../../operations/models/schemas.ts'
import { OWN_AGENT } from '../../operations/runs/own-agent.ts'
import { day, money } from '../parts/format.ts'
import { shown } from '../parts/shown.ts'
import { DECIMAL, WHOLE } from './draft.ts'

interface AgentFieldProps {
  readonly agents: readonly AgentKind[]
  readonly agent: string
  readonly onChange: (agent: string) => void
}

/** The kind of agent. The list shows why a kind cannot be used. */
export function AgentField({ agents, agent, onChange }: AgentFieldProps) {
  const others = agents.filter(({ kind }) => kind !== OWN_AGENT)
  const isListed = agent === '' || others.some(({ kind }) => kind === agent)
  return (
    <>
      {(others.length > 0 || !isListed) && (
        <label>
          Agent
          <select name="agent" value={agent} onChange={(event) => onChange(event.currentTarget.value)}>
            <option value="">keepup’s own</option>
            {!isListed && <option value={agent}>{shown(agent)}: not available</option>}
            {others.map(({ kind, installed, problem }) => (
              <option key={kind} value={kind} disabled={!installed}>
                {shown(kind)}: ungoverned{problem === null ? '' : `; ${shown(problem)}`}
              </option>
            ))}
          </select>
        </label>
      )}
      {!others.some(({ installed }) => installed) && (
        <p class="quiet">
          No other agent is installed on the server. Install one, and you can choose it here. This lists the kinds and
          the reasons: <code>keepup agents</code>
        </p>
      )}
    </>
  )
}

export const RoleField = ({ roles, role }: { roles: readonly Role[]; role: string | undefined }) => (
  <label>
    Role
    <select id="role" name="role">
      <option value="">none</option>
      {role !== undefined && !roles.some(({ name }) => name === role) && (
        <option value={role} selected>
          {shown(role)}: not available
        </option>
      )}
      {roles.map(({ name, definition }) => (
        <option key={name} value={name} selected={name === role}>
          {shown(name)}: {shown(definition.goal)}
        </option>
      ))}
    </select>
  </label>
)

const priceOf = ({ price }: Models['models'][number]): string =>
  price === null
    ? 'price unknown'
    : `${money(price.input)} in, ${money(price.output)} out per million tokens, as of ${day(price.asOf)}`

/** A model of the list or any other one, with the price of a known one. */
export function ModelField({ models, model }: { models: Models['models']; model: string | undefined }) {
  const [id, setId] = useState(model ?? '')
  const found = models.find((one) => one.id === id)
  return (
    <>
      <label>
        Model
        <input
          name="model"
          list="models"
          value={id}
          placeholder="as the settings say"
          onInput={(event) => setId(event.currentTarget.value)}
        />
      </label>
      {found !== undefined && <span class="quiet">{priceOf(found)}</span>}
      <datalist id="models">
        {models.map((one) => (
          <option key={one.id} value={one.id}>
            {shown(one.provider)}, {priceOf(one)}
          </option>
        ))}
      </datalist>
    </>
  )
}

interface WorkspaceFieldProps {
  readonly workspaces: readonly string[]
  readonly workspace: string | undefined
  readonly required: boolean
}

/** The folder to work in: one of the last runs' folders, or any other one. */
export const WorkspaceField = ({ workspaces, workspace, required }: WorkspaceFieldProps) => (
  <>
    <label>
      Folder on the server’s computer
      <input
        name="workspace"
        dir="auto"
        list="workspaces"
        defaultValue={workspace}
        placeholder="/home/me/my-project"
        required={required}
      />
    </label>
    <datalist id="workspaces">
      {workspaces.map((folder) => (
        <option key={folder} value={folder} />
      ))}
    </datalist>
  </>
)

interface NumberFieldProps {
  readonly name: string
  readonly label: string
  readonly value: string | undefined
  readonly placeholder: string
  readonly decimal?: boolean
}

export const NumberField = ({ name, label, value, placeholder, decimal = false }: NumberFieldProps) => (
  <label>
    {label}
    <input
      name={name}
      class="narrow"
      inputMode={decimal ? 'decimal' : 'numeric'}
      pattern={decimal ? DECIMAL : WHOLE}
      title={decimal ? 'a number above 0, such as 1 or 0.25' : 'a whole number above 0'}
      defaultValue={value}
      placeholder={placeholder}
    />
  </label>
)
