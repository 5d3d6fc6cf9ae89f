import { configDefaults, defineConfig } from 'vitest/config'
import { mutationPlugin } from './test/support/mutation.ts'

export default defineConfig({
  plugins: [mutationPlugin()],
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, 'test/package/**'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // What a mutation makes of a file is never kept for other runs, nor taken from them.
    fsModuleCache: process.env.KEEPUP_MUTATION === undefined,
  },
})
