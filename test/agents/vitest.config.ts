import { join } from 'node:path'
import { configDefaults, defineConfig } from 'vitest/config'
import { mutationPlugin } from '../support/mutations/mutation.ts'
import { MissingProgramsReporter, mustBeComplete, programTags } from '../support/programs/missing-programs.ts'

mustBeComplete()

// Tests that start the programs of others as processes, such as MCP servers.
export default defineConfig({
  plugins: [mutationPlugin()],
  test: {
    env: { XDG_CONFIG_HOME: join(import.meta.dirname, '../../node_modules', '.keepup-test-config') },
    include: ['test/agents/**/*.test.ts'],
    tags: programTags,
    reporters: ['default', new MissingProgramsReporter()],
    // Programs of other makers come from npm: AGENT_CLIS=real.
    exclude: [...configDefaults.exclude, ...(process.env.AGENT_CLIS === 'real' ? [] : ['test/agents/real/**'])],
    // What a mutation makes of a file is never kept for other runs, nor taken from them.
    fsModuleCache: process.env.KEEPUP_MUTATION === undefined,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    // Real processes and browsers on a busy machine: the report names a test that passed only when it was tried again. Samples
    // are the same at each try (.ci/run sets their seeds), so a broken rule fails twice.
    retry: process.env.CI === undefined ? 0 : 1,
  },
})
