import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { useBrowser } from '../../support/browser/pages.ts'
import { addPerson, openAs } from '../../support/browser/people.ts'
import { type Served, serve } from '../../support/browser/served.ts'
import { COLOURS, violations } from '../../support/browser/violations.ts'
import { Puppet } from '../../support/external/in-process.ts'
import { type Furnished, furnish } from './screens.ts'

// The rules of axe on every dialog, menu, fold, form and toolbar. The list is compared with the sources of the page, so that a new
// one is not forgotten.

const WEB = join(import.meta.dirname, '../../../api/web')
/** What opens over a screen or inside it. */
const OVERLAY =
  /<(?:Dialog|Menu|SavedMenu(?:<\w+>)?|details)[\s>]|role="toolbar"|<(?:form|div)\s+class="(?:form|comment-form)"/g
/** Files that define the parts that others use. */
const PARTS = new Set(['habits/dialog.tsx', 'parts/menu.tsx', 'parts/saved-menu.tsx'])

const DESK = { width: 1440, height: 900 }
const PHONE = { width: 390, height: 844 }

const browser = useBrowser()
const puppet = new Puppet()
let furnished: Furnished
let [external, spans] = ['', '']
let guarded: Served
let key = ''
beforeAll(async () => {
  furnished = await furnish()
  guarded = await serve({ agents: [puppet.backend] })
  const body = { agent: 'fake', task: 'go', workspace: guarded.workspace() }
  external = (await guarded.ask<{ runId: string }>('POST', '/v1/runs', body)).runId
  const data = { id: 'a', name: 'Bash', input: { command: 'npm test' } }
  await puppet.emit({ events: [{ kind: 'ToolCall', message: 'Bash', data }] })
  puppet.exit()
  const at = BigInt(Date.now()) * 1_000_000n
  const span = {
    ...{ traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', name: 'chat' },
    ...{ startTimeUnixNano: String(at), endTimeUnixNano: String(at + 5_000_000n) },
    attributes: [{ key: 'gen_ai.operation.name', value: { stringValue: 'chat' } }],
  }
  await guarded.ask('POST', '/v1/otlp/v1/traces', { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] })
  const { runs } = await guarded.ask<{ runs: { runId: string }[] }>('GET', '/v1/runs')
  spans = runs.find(({ runId }) => runId !== external)!.runId
  key = (await guarded.ask<{ key: string }>('POST', '/v1/access', { principal: 'ann', name: 'Ann' })).key
  await addPerson(guarded, 'bob', 'viewer')
})
afterAll(async () => {
  await furnished.served.close()
  await guarded.close()
})

/** An overlay: the file that has it, the path of its screen, the clicks that open it, and the element that it is. */
interface Overlay {
  readonly file: string
  readonly path: () => string
  readonly open: (page: Page) => Promise<void>
  readonly shown: string
  /** Only at one size. */
  readonly on?: typeof DESK
  readonly guarded?: true
}

const button =
  (name: string | RegExp, exact = true) =>
  async (page: Page) =>
    page.getByRole('button', { name, exact }).first().click()
const keyed =
  (...keys: string[]) =>
  async (page: Page) => {
    await page.locator('h1').first().click()
    for (const one of keys) await page.keyboard.press(one)
  }
const summary = (text: string | RegExp) => async (page: Page) =>
  page.locator('summary', { hasText: text }).first().click()
const dialog = (file: string, path: () => string, open: Overlay['open'], more: Partial<Overlay> = {}): Overlay => ({
  ...{ file, path, open, shown: 'dialog[open]' },
  ...more,
})
const menu = (file: string, path: () => string, open: Overlay['open'], more: Partial<Overlay> = {}): Overlay => ({
  ...{ file, path, open, shown: 'details[open]' },
  ...more,
})
const to = (path: string) => () => path
const done = () => `/runs/${furnished.done}`
const asks = () => `/runs/${furnished.asks}`
const edit = () => `/documents/${furnished.paper}?tab=edit`
const noted = () => `/runs/${furnished.noted}`
/** A form of a run's screen. The form of a note is in the page too, but closed. */
const FORM = '.form:visible'
const onPeople = { guarded: true } as const

const comment = (kind: string) => async (page: Page) => {
  await page.locator('.ProseMirror .marked').first().dblclick()
  await page.getByRole('toolbar').getByRole('button', { name: kind }).click()
}

const OVERLAYS: readonly Overlay[] = [
  dialog('habits/help.tsx', to('/'), keyed('?')),
  dialog('habits/copy-as.tsx', to('/'), keyed('y')),
  dialog('habits/palette.tsx', to('/'), keyed('Control+k')),
  dialog('keeping/retention.tsx', to('/retention'), button('Change the retention of memory')),
  dialog('keeping/due.tsx', to('/retention'), async (page) => {
    await furnished.served.ask('PUT', '/v1/retention', { of: 'run', days: 0, by: 'ada' })
    await page.reload()
    await button('Show what the next sweep empties')(page)
    await button('Empty them now')(page)
  }),
  dialog('keeping/hold-forms.tsx', to('/retention?tab=holds'), button('Set a hold')),
  dialog('keeping/hold-forms.tsx', to('/retention?tab=holds'), button(/^Lift /, false)),
  dialog('proof/anchors.tsx', to('/proof'), button('Add an anchor')),
  dialog('proof/anchors.tsx', to('/proof'), button('Remove gone')),
  dialog('access/people.tsx', to('/access'), button('Add a person or service'), onPeople),
  dialog('access/people.tsx', to('/access'), button('Roles of bob'), onPeople),
  dialog('access/people.tsx', to('/access'), button('Remove bob'), onPeople),
  dialog('access/keys.tsx', to('/access?tab=keys'), button('Create a key'), onPeople),
  dialog(
    'access/keys.tsx',
    to('/access?tab=keys'),
    async (page) => {
      await button('Create a key')(page)
      await page.getByRole('dialog').getByLabel('Owner').fill('bob')
      await page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click()
      await page.locator('dialog pre').waitFor()
    },
    onPeople,
  ),
  dialog('access/keys.tsx', to('/access?tab=keys'), button(/^Revoke /, false), onPeople),
  // The menu has another name on a phone.
  menu('page/navigation.tsx', to('/'), async (page) => page.getByRole('navigation').locator('summary').click()),
  menu('page/shell.tsx', to('/'), summary('ada')),
  menu('runs/columns.tsx', to('/'), summary('Columns')),
  menu('runs/filter-bar.tsx', to('/'), summary('More filters')),
  menu('runs/saved-views.tsx', to('/'), summary('Views')),
  menu('start/start-screen.tsx', to('/start'), summary('Templates')),
  menu('start/tool-rules.tsx', to('/start'), summary('Tools and approvals')),
  menu('start/recorded-notes.tsx', () => `/start?from=${furnished.done}`, summary('further setting')),
  menu('run/detail/request-chat.tsx', () => `${done()}?at=13&tab=request`, summary('System prompt')),
  menu('run/detail/request-chat.tsx', () => `${done()}?at=13&tab=request`, summary(/tools?$/)),
  menu('run/timeline/reported-call.tsx', () => `/runs/${external}`, summary('Bash'), onPeople),
  menu('run/timeline/reported-spans.tsx', () => `/runs/${spans}`, summary('chat'), onPeople),
  menu('annotation/annotations.tsx', noted, summary('1 note'), { shown: '.annotations details[open]' }),
  { file: 'annotation/annotations.tsx', path: noted, open: summary('1 note'), shown: '.annotations .form' },
  dialog('annotation/annotations.tsx', noted, async (page) => {
    await summary('1 note')(page)
    await button(/^Remove and erase the note/, false)(page)
  }),
  { file: 'documents/editor/editor.tsx', path: edit, open: async () => {}, shown: '[role=toolbar]' },
  { file: 'documents/editor/comment-form.tsx', path: edit, open: comment('Comment'), shown: '.comment-form' },
  {
    file: 'actions/continue-form.tsx',
    path: () => `/runs/${furnished.external}`,
    open: button('Continue'),
    shown: FORM,
  },
  { file: 'actions/fork-form.tsx', path: done, open: keyed('f'), shown: FORM },
  { file: 'actions/input-form.tsx', path: asks, open: keyed('i'), shown: FORM },
  { file: 'actions/restore-form.tsx', path: done, open: button('Restore'), shown: FORM },
  { file: 'actions/run-actions.tsx', path: asks, open: button('Cancel'), shown: FORM },
]

/** Overlays that have no part of {@link OVERLAY}, such as a form inside a line. */
const OTHERS: readonly Overlay[] = [
  { file: 'habits/tour.tsx', path: to('/'), open: async () => {}, shown: '.tour' },
  { file: 'documents/editor/comment-form.tsx', path: edit, open: comment('Suggest'), shown: '.comment-form' },
  { file: 'documents/comments.tsx', path: edit, open: button('Refuse …'), shown: 'input[name=text]' },
  {
    file: 'documents/views.tsx',
    path: () => `/documents/${furnished.paper}`,
    open: async (page) => page.getByLabel('Colours of authors').check(),
    shown: '.markdown .written',
  },
  {
    file: 'runs/bulk-actions.tsx',
    path: () => `/?run=${furnished.asks}`,
    open: async (page) => {
      await page.locator('.run-row.selected').waitFor()
      await page.keyboard.press('x')
    },
    shown: '.bulk',
  },
  {
    file: 'audit/ask/result-table.tsx',
    path: to('/audit?question=standing_approvals'),
    open: button('Ask (Ctrl Enter)'),
    shown: '.data-table',
  },
  { file: 'access/people.tsx', path: to('/access'), open: async () => {}, shown: '.data-table', ...onPeople },
  { file: 'access/keys.tsx', path: to('/access?tab=keys'), open: async () => {}, shown: '.data-table', ...onPeople },
  { file: 'access/rules.tsx', path: to('/access?tab=rules'), open: async () => {}, shown: '.data-table', ...onPeople },
  { file: 'access/uses.tsx', path: to('/access?tab=uses'), open: async () => {}, shown: '.panel section', ...onPeople },
]

it('every dialog, menu, fold, form and toolbar of the sources is visited', () => {
  const inSources = globSync('**/*.tsx', { cwd: WEB })
    .filter((file) => !PARTS.has(file))
    .flatMap(
      (file) =>
        readFileSync(join(WEB, file), 'utf8')
          .match(OVERLAY)
          ?.map(() => file) ?? [],
    )
  expect(OVERLAYS.map(({ file }) => file).sort()).toEqual(inSources.sort())
})

it.each([
  ['desk', DESK],
  ['phone', PHONE],
] as const)('no dialog, menu, fold, form or panel breaks a rule of axe at the size of a %s', async (_, size) => {
  const [own, other] = [await browser.page(), await browser.page()]
  for (const page of [own, other]) {
    await page.emulateMedia({ reducedMotion: 'reduce' })
    await page.setViewportSize(size)
  }
  await furnished.served.open(own)
  await openAs(guarded, other, 'ann', key, '/')
  const found: [string, string[]][] = []
  for (const { file, path, open, shown, on = size, guarded: isGuarded } of [...OTHERS, ...OVERLAYS]) {
    if (on !== size) continue
    const page = isGuarded ? other : own
    await page.emulateMedia({ colorScheme: 'light' })
    await page.goto((isGuarded ? guarded : furnished.served).url + path())
    await page.locator('main h1, main .panel').first().waitFor()
    await open(page)
    await page.locator(shown).first().waitFor()
    await expect.poll(() => page.getByText('loading …').count()).toBe(0)
    found.push([`${file}: ${shown}, light`, await violations(page)])
    await page.emulateMedia({ colorScheme: 'dark' })
    found.push([`${file}: ${shown}, dark`, await violations(page, COLOURS)])
  }
  expect(found.filter(([, all]) => all.length > 0)).toEqual([])
})
