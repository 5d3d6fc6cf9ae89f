import { suite } from '../support/programs/suite.ts'

// Tests in a real browser: Debian's Chromium. A test that cannot find it fails and says what to install.
export default suite({
  include: ['test/web/**/*.test.ts'],
  // Each worker has a browser, and waits for the browser's processes as often as they wait for the worker.
  maxWorkers: 2,
  testTimeout: 900_000,
})
