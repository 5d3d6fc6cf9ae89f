import type { TestTagDefinition } from 'vitest/config'
import type { Reporter, TestModule } from 'vitest/node'
import { PROGRAMS, type Program, remedyOf } from '../../../.ci/programs.js'

/** The programs that this machine lacks. */
export const missingPrograms: readonly Program[] = PROGRAMS.filter((program) => !program.works())

/**
 * A tag for each program: tests with the tag need the program and are skipped if it is missing. The tag of an installed
 * program sets no `skip`, because `false` would override another tag of the same test.
 */
export const programTags: TestTagDefinition[] = PROGRAMS.map((program) => ({
  name: program.name,
  ...(missingPrograms.includes(program) ? { skip: true } : {}),
}))

const listed = (text: string | undefined): readonly string[] =>
  (text ?? '').split(/[\s,]+/).filter((name) => name !== '')

/**
 * Throws in CI if a program is missing that `TEST_WITHOUT` does not name, or installed although it is named: a
 * successful CI run must have run every test.
 */
export function mustBeComplete(env: NodeJS.ProcessEnv = process.env): void {
  if (env.CI !== 'true') return
  const without = listed(env.TEST_WITHOUT)
  const [missing, names] = [missingPrograms.map(({ name }) => name), PROGRAMS.map(({ name }) => name)]
  const wrong = names.filter((name) => missing.includes(name) !== without.includes(name))
  if (wrong.length > 0)
    throw new Error(
      `missing here: ${missing.join(', ') || 'nothing'}; TEST_WITHOUT names: ${without.join(', ') || 'nothing'}; run npm run setup`,
    )
}

/** Reports after the summary how many tests each missing program skipped, and how to install the program. */
export class MissingProgramsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')])
    for (const program of missingPrograms) {
      const count = skipped.filter(({ tags }) => tags.includes(program.name)).length
      if (count > 0) console.log(`${count} tests did not run: ${program.name} is missing (${remedyOf(program)})`)
    }
  }
}
