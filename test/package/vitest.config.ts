import { defineConfig } from 'vitest/config'

// Needs the tarball of `npm run pack`, so it is not part of `npm test`. A compiler is run, which a slow machine takes long for.
export default defineConfig({
  test: { include: ['test/package/*.test.ts'], testTimeout: 300_000, hookTimeout: 60_000 },
})
