import { suite } from '../support/programs/suite.ts'

// Tests that take minutes, and many on a busy machine: runs over several workers while their servers fail.
export default suite({ include: ['test/workers/**/*.test.ts'], testTimeout: 900_000 })
