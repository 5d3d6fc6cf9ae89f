import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ModelEntry } from '../../adapters/models/catalog.ts'
import { FAILURES, IN_RESULT, PLACEHOLDERS, Script } from '../../adapters/models/scripted/script.ts'
import { ApprovalState } from '../../api/operations/approvals/schemas.ts'
import { MachineState, RunStatus } from '../../api/operations/runs/schemas.ts'
import { StartRun } from '../../api/operations/runs/start-schemas.ts'
import { EXAMPLES } from '../../api/process/config/examples.ts'
import { ConfigSchema, envName, FILE_ONLY } from '../../api/process/config/settings.ts'
import { DEFAULT_MODEL } from '../../api/process/host/start-services.ts'
import { CODER_SOP } from '../../domain/agent/definition/roles.ts'
import { OUTAGE_BACKOFF_CAP_MS } from '../../domain/agent/routing/after-model-failure.ts'
import { MAX_MODEL_FAILURES } from '../../domain/agent/routing/routing.ts'
import { MODEL_OUTAGE_MS, Policy } from '../../domain/calls/policy-schema.ts'
import { postgres, sqlite } from '../../projections/engine/schema/dialect.ts'
import { eventRows } from '../../projections/engine/schema/event-rows.ts'
import { keptViews } from '../../projections/engine/schema/kept-views.ts'
import { specOf, tableNames } from '../../projections/engine/schema/tables.ts'
import { views } from '../../projections/engine/schema/views.ts'
import { PAGE, toolSections, writtenSections } from '../support/papers/tool-page.ts'

// Pages of reference say what the program says.

describe('the page of the tools', () => {
  it("equals the tools' own descriptions; node test/support/papers/tool-page.ts writes it again", () => {
    expect(writtenSections(readFileSync(PAGE, 'utf8'))).toBe(toolSections())
  })
})

describe('the page of HTTP', () => {
  it('has an example with every setting of a run, which is accepted', () => {
    const page = readFileSync(join(import.meta.dirname, '../../api/docs/http.md'), 'utf8')
    const example = JSON.parse(/```json\n([\s\S]*?)```/.exec(page)![1]!)
    expect(StartRun.safeParse(example).error).toBeUndefined()
    // Rules take the place of the model that the example names.
    const { routing: _r, agent: _a, env: _e, extensions: _x, ...shape } = StartRun.shape
    expect(Object.keys(example).sort()).toEqual(Object.keys(shape).sort())
    expect(Object.keys(example.policy).sort()).toEqual(Object.keys(Policy.shape).sort())
    const [, other] = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text]) => JSON.parse(text!))
    expect(StartRun.safeParse(other).error).toBeUndefined()
    expect(Object.keys(other)).toEqual(expect.arrayContaining(['agent', 'env', 'extensions']))
  })
})

describe('the page of the tables', () => {
  const page = readFileSync(join(import.meta.dirname, '../../api/docs/tables.md'), 'utf8')

  it('has each table once, with its columns, and names every view', () => {
    const rows = [...page.matchAll(/^\| `(\w+)` \| [^|]+ \| ([^|]+) \|$/gm)].map(([, name, columns]) => [name, columns])
    const specs = [...tableNames().map((name) => [name, specOf(name)] as const), ['event_rows', eventRows] as const]
    expect(rows).toEqual(specs.map(([name, { columns }]) => [name, Object.keys(columns).join(' ')]))
    const made = [...views(postgres), ...views(sqlite), ...keptViews].flatMap(
      (sql) => /^create view (\w+)/.exec(sql) ?? [],
    )
    const names = new Set(made.filter((name) => !name.startsWith('create')))
    expect(names.size).toBeGreaterThan(5)
    for (const name of [...names, 'position', 'streams']) expect(page).toContain(`\`${name}\``)
  })

  it('says which columns are dollars, and which nano-dollars', () => {
    const made = [...views(postgres), ...views(sqlite), ...keptViews].join('\n')
    const dollars = new Set([...made.matchAll(/ \/ 1e9 as (\w+)/g)].map(([, name]) => name!))
    const nano = new Set([...made.matchAll(/ as (\w*nano_dollars)\b/g)].map(([, name]) => name!))
    const [, whole = '', point = ''] = /Money is whole nano-dollars(.*?);(.*?):/s.exec(page)!
    expect(point.match(/`\w+`/g)?.sort()).toEqual([...dollars].sort().map((name) => `\`${name}\``))
    for (const name of whole.match(/(?<=`)\w+(?=`)/g)!) expect([...nano, 'nano_dollars']).toContain(name)
  })
})

describe('the page of the settings', () => {
  const page = readFileSync(join(import.meta.dirname, '../../api/docs/settings.md'), 'utf8')
  const rows = [...page.matchAll(/^\| `(\w+)` \| (?:`(\w+)`)? *\| (.+?) \|/gm)].map(([, key, variable, value]) => ({
    ...{ key: key!, variable, value: value! },
  }))

  it('has every key once, with its variable and its default', () => {
    const keys = Object.keys(ConfigSchema.shape)
    expect(rows.map(({ key }) => key).sort()).toEqual(keys.sort())
    const { data: _, ...defaults } = ConfigSchema.parse({ data: 'x' })
    for (const { key, variable, value } of rows) {
      expect([key, variable]).toEqual([key, FILE_ONLY.has(key) ? undefined : envName(key)])
      if (key !== 'data') expect([key, value]).toEqual([key, JSON.stringify(defaults[key as keyof typeof defaults])])
    }
    expect(page).toContain(`null: \`${DEFAULT_MODEL}\``)
  })

  it('has examples that are accepted, as messages have', () => {
    const files = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, json]) => JSON.parse(json!))
    expect(files).toHaveLength(10)
    for (const file of [...files, EXAMPLES])
      expect(ConfigSchema.safeParse({ data: 'x', ...file }).error).toBeUndefined()
    expect(Object.keys(files[0].models[0]).sort()).toEqual(Object.keys(ModelEntry.shape).sort())
  })

  it('states the limits of the wait for an outage', () => {
    expect(page).toContain(`${MODEL_OUTAGE_MS} (an hour) by default`)
    expect(page).toContain(`${OUTAGE_BACKOFF_CAP_MS / 60_000} minutes`)
    expect(MAX_MODEL_FAILURES).toBe(3)
    expect(page).toContain('three of them in a row')
  })
})

describe('the page of scripted models', () => {
  it('explains every member of a script, a turn and a condition once', () => {
    const page = readFileSync(join(import.meta.dirname, '../../api/docs/scripted-models.md'), 'utf8')
    const explained = (heading: string) => {
      const [, part = ''] = page.split(`## ${heading}\n`)
      return [...part.split('\n## ')[0]!.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name!).sort()
    }
    const turn = Script.shape.turns.element
    expect(explained('The script')).toEqual(Object.keys(Script.shape).sort())
    expect(explained('A turn')).toEqual(Object.keys(turn.shape).sort())
    expect(explained('Which turn comes next')).toEqual(Object.keys(turn.shape.when.unwrap().shape).sort())
    const values = explained('Texts from the conversation').filter((one) => !one.includes(IN_RESULT))
    expect(values).toEqual(PLACEHOLDERS.map((name) => `$\{${name}}`).sort())
    for (const code of FAILURES) expect(page).toContain(`\`${code}\``)
  })
})

describe('the page of terms', () => {
  const page = readFileSync(join(import.meta.dirname, '../../api/docs/glossary.md'), 'utf8')
  const TERMS =
    'run agent turn step revision position payload checkpoint approval epoch lease attempt gate phase fork cursor digest'

  it('explains each term of the product, and README leads to it', () => {
    for (const term of [...TERMS.split(' '), 'unknown outcome', 'standing approval'])
      expect(page, term).toMatch(new RegExp(`^\\| \\*\\*${term}\\*\\*.* \\| .{20}`, 'm'))
    const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')
    expect(readme).toContain('(api/docs/glossary.md)')
  })

  it("has the Coder's phases with their tools and gates, and every state and status", () => {
    for (const { name, allowedTools } of CODER_SOP.phases)
      expect(page).toContain(`| \`${name}\` | ${allowedTools.join(', ')} |`)
    for (const { after, check } of CODER_SOP.qualityGates)
      expect(page).toMatch(new RegExp(`^\\| \`${after}\`.*\`${check}\``, 'm'))
    for (const word of [...MachineState.options, ...RunStatus.options, ...ApprovalState.options.slice(1, 4)])
      expect(page, word).toContain(`\`${word}\``)
  })
})
