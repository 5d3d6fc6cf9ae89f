import { defineConfig } from 'vitest/config'

// Needs the tarball of `npm run pack`, so it is not part of `npm test`.
export default defineConfig({ test: { include: ['test/package/*.test.ts'], testTimeout: 60_000, hookTimeout: 60_000 } })
