import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { MissingProgramsReporter, mustBeComplete, programTags } from '../support/programs/missing-programs.ts'

mustBeComplete()

// Tests that take minutes, and many on a busy machine: runs over several workers while their servers fail.
export default defineConfig({
  test: {
    env: { XDG_CONFIG_HOME: join(import.meta.dirname, '../../node_modules', '.keepup-test-config') },
    include: ['test/workers/**/*.test.ts'],
    tags: programTags,
    reporters: ['default', new MissingProgramsReporter()],
    testTimeout: 900_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    // Real processes and browsers on a busy machine: the report names a test that passed only when it was tried again. Samples
    // are the same at each try (.ci/run sets their seeds), so a broken rule fails twice.
    retry: process.env.CI === undefined ? 0 : 1,
  },
})
