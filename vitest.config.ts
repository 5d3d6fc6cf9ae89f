import { configDefaults } from 'vitest/config'
import { suite } from './test/support/programs/suite.ts'

export default suite({
  include: ['test/**/*.test.ts'],
  exclude: [
    ...configDefaults.exclude,
    ...[
      'test/package/**',
      'test/workers/**',
      'test/campaigns/**',
      'test/agents/**',
      'test/claude-sdk/**',
      'test/langgraph/**',
      'test/web/**',
    ],
  ],
  // Many tests wait for processes and workers that they start: three files at a time keep two cores busy, and all are to
  // pass there.
  maxWorkers: 3,
  // A larger young generation: collecting it takes a tenth of the time of the laws.
  execArgv: ['--max-semi-space-size=64'],
})
