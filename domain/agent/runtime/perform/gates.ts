import { quoteCommand } from '../../../calls/command-line.ts'
import type { Workspace } from '../../../ports/index.ts'
import type { Environment } from '../../../ports/runtime.ts'
import type { QualityGate } from '../../../tree/spec.ts'
import type { Findings } from '../../control/control-tool.ts'
import type { AgentState } from '../../state/state.ts'
import { changesBetween } from '../history/changes.ts'
import { runGateCommand } from './gate-command.ts'

// Quality gates (seed 000 section 7). Each is checked against the workspace and returns its evidence.

type Checked = Findings['gates'][number]
type Verdict = { passed: boolean; evidence: string }

/** Checks one gate. `types`: artifact types that the current call registers. */
export async function checkGate(
  env: Environment,
  state: AgentState,
  gate: QualityGate,
  types: readonly string[],
  signal: AbortSignal,
): Promise<Checked> {
  const { argv } = gate
  const { passed, evidence } =
    argv === undefined
      ? await verdict(env, state, gate.check, types)
      : await runGateCommand(env, { ...gate, argv }, signal)
  return { gate: gate.check, after: gate.after, passed, evidence: env.secrets.text(evidence) }
}

async function verdict(env: Environment, state: AgentState, check: string, types: readonly string[]): Promise<Verdict> {
  switch (check) {
    case 'tests_exist':
      return testsExist(env.workspace, state)
    case 'tests_pass':
      return testsPass(env.workspace, state)
    case 'diagram_exists': {
      const passed = types.includes('diagram') || state.artifactTypes.includes('diagram')
      return { passed, evidence: passed ? 'a diagram is registered' : 'no artifact of type diagram is registered' }
    }
    default:
      return { passed: false, evidence: `there is no gate "${check}"` }
  }
}

const TEST_FILE = /(^|\/)(tests?|__tests__|spec)\/|\.(test|spec)\.[a-z]+$|(^|\/)test_[^/]*\.py$|_(test|spec)\.[a-z]+$/i

export const isTestFile = (path: string): boolean => TEST_FILE.test(path)

async function testsExist(workspace: Workspace | null, state: AgentState): Promise<Verdict> {
  const base = state.spec.workspace?.tree ?? null
  if (workspace === null || base === null) return { passed: false, evidence: 'the run has no versioned workspace' }
  const now = await workspace.versions.snapshot()
  const changes = await changesBetween(workspace.versions, base, now)
  if (changes === null) return { passed: false, evidence: 'the files that the run began with are lost' }
  const written = changes.filter((change) => change.change !== 'deleted').map((change) => change.path)
  for (const path of written.filter(isTestFile)) {
    if ((await workspace.read(path)).length > 0) return { passed: true, evidence: `${path} was written in this run` }
  }
  const naming = await testNaming(
    workspace,
    written.filter((path) => !isTestFile(path)),
  )
  if (naming !== null) return { passed: true, evidence: naming }
  const what =
    written.length === 0
      ? 'no file was written in this run'
      : `no test file is among or names ${written.slice(0, 5).join(', ')}`
  return { passed: false, evidence: what }
}

/** A sentence about a test file that mentions a written file by its name without extension, or null. */
async function testNaming(workspace: Workspace, written: readonly string[]): Promise<string | null> {
  const names = new Map(written.map((path) => [nameOf(path), path]))
  names.delete('')
  if (names.size === 0) return null
  const pattern = [...names.keys()].map((name) => RegExp.escape(name)).join('|')
  const query = { pattern, regex: true, path: '.', only: isTestFile, caseSensitive: true, limit: 1 }
  const [match] = (await workspace.search(query, AbortSignal.timeout(10_000))).matches
  if (match === undefined) return null
  const [, path] = [...names].find(([name]) => match.text.includes(name)) ?? []
  return `${match.path} tests ${path}, which was written in this run`
}

const nameOf = (path: string): string =>
  path
    .split('/')
    .at(-1)!
    .replace(/\.[^.]+$/, '')

async function testsPass(workspace: Workspace | null, state: AgentState): Promise<Verdict> {
  const { testCommand } = state.spec
  if (testCommand === null) {
    return { passed: false, evidence: 'no test command is known; start the run with one (--test-command, testCommand)' }
  }
  const command = quoteCommand(testCommand)
  if (state.tested === null) return { passed: false, evidence: `"${command}" has not been run` }
  if (state.tested.exitCode !== 0) {
    return {
      passed: false,
      evidence: `"${command}" ended ${endedHow(state.tested.exitCode)} in step ${state.tested.step}`,
    }
  }
  if (workspace !== null && state.tested.tree === null) {
    return {
      passed: false,
      evidence: `"${command}" passed in step ${state.tested.step}, but the files that it ran on could not be versioned; run it again`,
    }
  }
  if (workspace !== null && (await workspace.versions.snapshot()) !== state.tested.tree) {
    return {
      passed: false,
      evidence: `files have changed since "${command}" passed in step ${state.tested.step}; run it again`,
    }
  }
  return {
    passed: true,
    evidence: `"${command}" ended with exit code 0 in step ${state.tested.step}, and no file has changed since`,
  }
}

const endedHow = (exitCode: number | null) => (exitCode === null ? 'by a signal' : `with exit code ${exitCode}`)
