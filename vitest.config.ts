import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { configDefaults, defineConfig } from 'vitest/config'
import { mutationPlugin } from './test/support/mutations/mutation.ts'
import { MissingProgramsReporter, mustBeComplete, programTags } from './test/support/programs/missing-programs.ts'

mustBeComplete()

export default defineConfig({
  plugins: [mutationPlugin()],
  test: {
    include: ['test/**/*.test.ts'],
    tags: programTags,
    reporters: ['default', new MissingProgramsReporter()],
    globalSetup: './test/support/programs/make-program.ts',
    // The key of the vaults lies outside of every data folder: this one is the tests' own.
    env: {
      XDG_CONFIG_HOME: join(import.meta.dirname, 'node_modules', '.keepup-test-config'),
      // Each log has a writer's thread, which would compile its modules anew: half of the time of a short run.
      NODE_COMPILE_CACHE: join(tmpdir(), 'keepup-test-cache'),
    },
    exclude: [
      ...configDefaults.exclude,
      ...['test/package/**', 'test/workers/**', 'test/campaigns/**', 'test/agents/**', 'test/web/**'],
    ],
    // Many tests wait for processes and workers that they start: three files at a time keep two cores busy, and all are to
    // pass there.
    maxWorkers: 3,
    // Half of the time went into loading the same modules for each file anew; no test changes what they hold.
    isolate: false,
    // A larger young generation: collecting it takes a tenth of the time of the laws.
    execArgv: ['--max-semi-space-size=64'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // A wait ends when what is awaited comes; this long only where it does not, also on a busy machine.
    expect: { poll: { timeout: 30_000 } },
    // In CI a failed test runs a second time with the same samples, so a broken rule fails twice. The report names the test.
    retry: process.env.CI === undefined ? 0 : 1,
    // What a mutation makes of a file is never kept for other runs, nor taken from them.
    fsModuleCache: process.env.KEEPUP_MUTATION === undefined,
  },
})
