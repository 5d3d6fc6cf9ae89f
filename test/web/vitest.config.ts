import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { mutationPlugin } from '../support/mutations/mutation.ts'
import { MissingProgramsReporter, mustBeComplete, programTags } from '../support/programs/missing-programs.ts'

mustBeComplete()

// Tests in a real browser: Debian's Chromium. A test that cannot find it fails and says what to install.
export default defineConfig({
  plugins: [mutationPlugin()],
  test: {
    env: { XDG_CONFIG_HOME: join(import.meta.dirname, '../../node_modules', '.keepup-test-config') },
    include: ['test/web/**/*.test.ts'],
    tags: programTags,
    reporters: ['default', new MissingProgramsReporter()],
    // Each browser is several processes.
    maxWorkers: 1,
    testTimeout: 900_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    // Real processes and browsers on a busy machine: the report names a test that passed only when it was tried again. Samples
    // are the same at each try (.ci/run sets their seeds), so a broken rule fails twice.
    retry: process.env.CI === undefined ? 0 : 1,
  },
})
