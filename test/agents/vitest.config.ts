import { configDefaults } from 'vitest/config'
import { suite } from '../support/programs/suite.ts'

// Tests that start the programs of others as processes, such as MCP servers.
export default suite({
  include: ['test/agents/**/*.test.ts'],
  // Programs of other makers come from npm: AGENT_CLIS=real.
  exclude: [...configDefaults.exclude, ...(process.env.AGENT_CLIS === 'real' ? [] : ['test/agents/real/**'])],
})
