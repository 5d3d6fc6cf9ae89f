import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { defineConfig } from 'vitest/config'
import type { InlineConfig } from 'vitest/node'
import { mutationPlugin } from '../mutations/mutation.ts'
import { memoryFolder } from './memory-folder.ts'
import { MissingProgramsReporter, mustBeComplete, programTags } from './missing-programs.ts'

const root = resolve(import.meta.dirname, '../../..')
const memory = memoryFolder()

/** The settings of a suite of tests: those that every suite shares, then its own. Throws in CI if a program is missing. */
export function suite(own: InlineConfig) {
  mustBeComplete()
  return defineConfig({
    plugins: [mutationPlugin()],
    test: {
      tags: programTags,
      reporters: ['default', new MissingProgramsReporter()],
      globalSetup: join(root, 'test/support/programs/make-program.ts'),
      env: {
        // The key of the vaults lies outside of every data folder: this one is the tests' own.
        XDG_CONFIG_HOME: join(root, 'node_modules', '.keepup-test-config'),
        // Each log has a writer's thread, and many tests start processes. Compiling their modules takes half of the time
        // of a short run.
        NODE_COMPILE_CACHE: join(tmpdir(), 'keepup-test-cache'),
        ...(memory === null ? {} : { TMPDIR: memory }),
      },
      // Loading the same modules for each file takes half of the time; no test changes the state of a module.
      isolate: false,
      testTimeout: 120_000,
      hookTimeout: 60_000,
      // A wait ends at its event. This limit counts only if the event does not occur, also on a busy machine.
      expect: { poll: { timeout: 30_000 } },
      // In CI a failed test runs a second time with the same samples (.ci/run sets their seeds), so a broken rule fails
      // twice. The report names the test.
      retry: process.env.CI === undefined ? 0 : 1,
      // The cache contains no module that a mutation has changed.
      fsModuleCache: process.env.KEEPUP_MUTATION === undefined,
      ...own,
    },
  })
}
