import { suite } from '../support/programs/suite.ts'

// Many rounds of sampled faults, each said with its seed: minutes, and no part of `npm test`.
export default suite({
  include: ['test/campaigns/**/*.test.ts', 'test/web/**/*.campaign.ts'],
  testTimeout: 4 * 3_600_000,
  hookTimeout: 600_000,
  maxWorkers: 1,
  retry: 0,
})
