import { defineConfig } from 'vitest/config'
import { MissingProgramsReporter, mustBeComplete, programTags } from '../support/programs/missing-programs.ts'

mustBeComplete()

// Many rounds of sampled faults, each said with its seed: minutes, and no part of `npm test`.
export default defineConfig({
  test: {
    include: ['test/campaigns/**/*.test.ts'],
    tags: programTags,
    reporters: ['default', new MissingProgramsReporter()],
    testTimeout: 4 * 3_600_000,
    hookTimeout: 600_000,
    maxWorkers: 1,
  },
})
