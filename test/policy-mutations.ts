import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runMutated } from './support/mutations/mutation.ts'

// npm run test:policy [file]: changes the files that decide which calls may run, one small change at a time (a comparison, a
// condition, a member of a list, a check of the chain), and says which changes no test catches.

const FILES = [
  'calls/tool-patterns.ts',
  'calls/policy-engine.ts',
  'calls/permissions.ts',
  'calls/plan-calls.ts',
  'agent/rules/permissions.ts',
  'agent/decide/permissions.ts',
  'agent/tasks/plan.ts',
]
const TESTS = [
  ...['domain/policy', 'domain/planned-calls', 'domain/permissions', 'runtime/tree-permissions'].map(
    (name) => `test/${name}.test.ts`,
  ),
  ...['3-policy-check', '5.1-completion', '5.2-recovery', '5.3-approvals', '5.3-tools', '5.10-errors'],
  ...['5.12-hostile-model', '5.12-permissions', '5.12-security', '7-roles'],
].map((name) => (name.endsWith('.ts') ? name : `test/behaviour/${name}.test.ts`))

/** What is replaced on a line, and by what. */
const CHANGES: readonly (readonly [RegExp, string])[] = [
  [/ === /g, ' !== '],
  [/ !== /g, ' === '],
  [/ && /g, ' || '],
  [/ \|\| /g, ' && '],
  [/ >= /g, ' < '],
  [/ <= 1/g, ' <= 9'],
  [/\.some\(/g, '.every('],
  [/'[a-z_]+', (?=')/g, ''],
  [/^( +)if \((.+)\) (return|continue)/g, '$1if (false) $3'],
  [/^ +[a-zA-Z]+\(.*\) \?\?$/g, ''],
]

interface Change {
  readonly file: string
  readonly line: number
  readonly from: string
  readonly to: string
  readonly mutated: string
}

function changesOf(file: string): Change[] {
  const path = `domain/${file}`
  const source = readFileSync(join(import.meta.dirname, '..', path), 'utf8')
  const lines = source.split('\n')
  return lines.flatMap((text, line) => {
    // Comments, imports, types and texts of messages decide nothing.
    if (/^\s*(\/?\*|\/\/|import |`)/.test(text)) return []
    return CHANGES.flatMap(([search, replace]) =>
      [...text.matchAll(search)].map((found) => {
        const to = text.slice(0, found.index) + text.slice(found.index).replace(new RegExp(search.source), replace)
        return {
          file: path,
          line: line + 1,
          from: text.trim(),
          to: to.trim(),
          mutated: lines.with(line, to).join('\n'),
        }
      }),
    )
  })
}

const changes = FILES.filter((file) => process.argv[2] === undefined || file.includes(process.argv[2])).flatMap(
  changesOf,
)
const missed: Change[] = []
const next = changes.values()

async function work(): Promise<void> {
  for (const change of next) {
    const { file, mutated } = change
    const { passed } = await runMutated({ file, text: mutated }, TESTS)
    if (passed) missed.push(change)
    console.log(`${passed ? 'MISSED' : 'caught'}  ${file}:${change.line}  ${change.to || `without: ${change.from}`}`)
  }
}

await Promise.all([work(), work()])
const share = ((100 * (changes.length - missed.length)) / changes.length).toFixed(1)
console.log(`${changes.length - missed.length} of ${changes.length} changes were caught (${share} %)`)
if (Number(share) < 95) process.exitCode = 1
