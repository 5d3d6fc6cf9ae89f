import { readFileSync } from 'node:fs'
import type { ScriptInput } from '../../../adapters/models/scripted/script.ts'
import { demoScript } from '../../../api/demo/project.ts'

// What the models of the pictures say: a part of a script for each task.

type Turn = ScriptInput['turns'][number]
interface Part {
  readonly name: string
  readonly when: { readonly firstInputContains: string }
  readonly turns: Turn[]
}

const call = (text: string, tool: string, args: Record<string, unknown>, usage = { input: 9_200, output: 210 }): Turn =>
  ({ text, calls: [{ tool, arguments: args }], usage }) as Turn
const done = (summary: string, artifacts?: string[]): Turn =>
  call('That is all.', 'complete_task', { summary, ...(artifacts && { artifacts }) }, { input: 14_800, output: 160 })
const part = (name: string, firstInputContains: string, ...turns: Turn[]): Part => ({
  ...{ name, when: { firstInputContains }, turns },
})

const demo = JSON.parse(readFileSync(demoScript(), 'utf8')) as { turns: Turn[] }
/** The turns of the demo, with figures that grow like those of a real conversation. */
const receipt = demo.turns.map(({ delayMs: _, ...turn }, nth) => ({
  ...turn,
  usage: { input: 900 + 120 * nth, output: 140 + 35 * (nth % 5), cacheRead: 1_400 * nth, cacheWrite: 700 },
}))
const write = receipt.findIndex(({ calls }) => calls?.[0]?.tool === 'write_file')
const source = String(receipt[write]!.calls![0]!.arguments!.content)
/** In a fork that a person told to round in another way. */
const halfToEven: Turn = {
  ...receipt[write]!,
  when: { lastInputContains: 'half to even' },
  text: 'Half to even, as the ledger does.',
  calls: [
    {
      tool: 'write_file',
      arguments: {
        path: 'src/receipt.ts',
        content: source.replace(
          /return Math\.round\(.*\)\n/,
          'const exact = (line.price * line.quantity * line.tax) / 100\n  const down = Math.floor(exact)\n  return exact - down === 0.5 ? down + (down % 2) : Math.round(exact)\n',
        ),
      },
    },
  ],
}

const changelog = `# Changelog

## 2.4.0

- Tax rounds half up, line by line.
- Amounts always show two decimals.
- Refunds keep their sign.

## 2.3.1

- The till prints the name of the shop again.
`

const TEAMS = {
  pricing: ['discounts', 'vouchers', 'rounding'],
  payments: ['card terminal', 'cash drawer', 'refunds'],
  printing: ['paper width', 'logo', 'QR code'],
  reports: ['daily totals', 'tax summary', 'export to accounting'],
} as const

const delegate = (role: string, tasks: readonly string[], text: string): Turn => ({
  text,
  calls: tasks.map((task) => ({ tool: 'delegate_to_agent', arguments: { role, task } })),
  usage: { input: 6_400, output: 480 },
})

const teams = Object.entries(TEAMS).flatMap(([team, parts]) => [
  part(
    `lead of ${team}`,
    `Lead the review of ${team}`,
    delegate(
      'researcher',
      parts.map((one) => `Check ${one} (${team})`),
      `${parts.length} parts, one reader each.`,
    ),
    done(`${team}: ${parts.length} parts read, ${parts[0]} needs a test.`),
  ),
  ...parts.map((one, nth) =>
    part(
      one,
      `Check ${one}`,
      call('The code first.', 'search_code', { query: one.split(' ')[0]! }),
      call('And the file itself.', 'read_file', { path: 'src/receipt.ts' }, { input: 4_000 + 900 * nth, output: 120 }),
      done(`${one}: read; nothing contradicts the README.`),
    ),
  ),
])

const npmTest = call('Running the tests.', 'run_command', { command: 'npm test' })
const receiptTest = call('What does the test expect?', 'read_file', { path: 'test/receipt.test.ts' })

/** What each model says, by its name. */
export const SCRIPTS: Readonly<Record<string, ScriptInput>> = {
  'claude-sonnet-4-5': {
    ...{ script: 1, model: 'claude-sonnet-4-5' },
    turns: [...receipt.slice(0, write), halfToEven, ...receipt.slice(write)],
    parts: [
      part(
        'changelog',
        'changelog of 2.4.0',
        call('The file as it is.', 'read_file', { path: 'CHANGELOG.md' }),
        call('The three changes of the receipt, above 2.3.1.', 'write_file', {
          path: 'CHANGELOG.md',
          content: changelog,
        }),
        done('CHANGELOG.md describes 2.4.0.', ['CHANGELOG.md']),
      ),
      part(
        'failing',
        'invoice total',
        call('Let me see what is here.', 'list_dir', { path: '.', depth: 2 }),
        npmTest,
        receiptTest,
        { ...npmTest, text: 'Once more, to rule out a flaky test.' },
        call('The module.', 'read_file', { path: 'src/receipt.ts' }),
        { fail: { code: 'AUTHENTICATION', times: 1_000 }, text: 'Never said.' },
      ),
      part(
        'tree',
        'Review the till before the release',
        delegate(
          'analyst',
          Object.keys(TEAMS).map((team) => `Lead the review of ${team}`),
          'Four parts, a lead for each; three independent checks beside them.',
        ),
        delegate(
          'reviewer',
          ['Check logging for card numbers', 'Check the licences of the dependencies', 'Check the upgrade from 2.3'],
          'Three checks of the whole.',
        ),
        call('Everything is read.', 'advance_phase', { summary: 'Four parts and three checks are read.' }),
        call('The plan in one line.', 'advance_phase', {
          summary: 'Release after one more test.',
          artifacts: [{ type: 'diagram', title: 'Release', content: 'test of discounts -> tag -> publish' }],
        }),
        done('The till can be released once discounts have a test.'),
      ),
      ...teams,
      part(
        'logging',
        'Check logging',
        call('Where is anything logged?', 'search_code', { query: 'log' }),
        done('No card number is logged.'),
      ),
      part('licences', 'Check the licences', done('All dependencies are MIT or Apache-2.0.')),
      part(
        'upgrade',
        'Check the upgrade',
        call('The README says how.', 'read_file', { path: 'README.md' }),
        done('2.3 upgrades without a step by hand.'),
      ),
    ] as Part[],
  },
  'claude-haiku-4-5': {
    ...{ script: 1, model: 'claude-haiku-4-5', turns: [done('Done.')] },
    parts: [
      part(
        'lint',
        'lint',
        call('The linter first.', 'run_command', { command: 'npx --no-install eslint src' }),
        call('And the types.', 'run_command', { command: 'node --check src/missing.ts' }),
        call('The tests tell more.', 'run_command', { command: 'npm test' }),
        done('The linter is not installed; the tests show two failures.'),
      ),
      part(
        'publish',
        'Publish',
        call('The version is tagged, so it can go out.', 'run_command', { command: 'npm publish --access public' }),
        done('Not published: a person decides about it.'),
      ),
      part(
        'watch',
        'Watch the checkout',
        call('Following the log of the checkout.', 'run_command', {
          command:
            'n=0; until [ -e go.txt ]; do n=$((n+1)); echo "order $((4100+n)) paid, $((n*7 % 90 + 10)).50 EUR"; sleep 0.4; done; echo "log ended"',
        }),
        done('The checkout took every order.'),
      ),
      part(
        'notes',
        'Summarize the tickets',
        { ...call('The next batch of tickets.', 'list_dir', { path: '.', depth: 1 }), label: 'next', delayMs: 400 },
        { ...call('And the one after it.', 'list_dir', { path: '.', depth: 1 }), delayMs: 400, goto: 'next' },
      ),
      part(
        'migrate',
        'Move the orders',
        call('One statement moves them.', 'run_command', { command: 'touch moved.txt', timeoutMs: 60_000 }),
        done('Moved.'),
      ),
    ] as Part[],
  },
  'gpt-5.6-luna': {
    ...{ script: 1, model: 'gpt-5.6-luna', turns: [done('Done.')] },
    parts: [
      part(
        'translate',
        'Translate',
        call('The text first.', 'read_file', { path: 'README.md' }, { input: 31_000, output: 90 }),
        call('In German.', 'write_file', {
          path: 'LIESMICH.md',
          content: '# Kasse\n\nRechnet einen Beleg zusammen.\n',
        }),
        done('LIESMICH.md is the README in German.', ['LIESMICH.md']),
      ),
    ] as Part[],
  },
}
