// SPDX-License-Identifier: Apache-2.0
//
// graphile-worker with the settings that its documentation gives for high throughput.
//   node graphile-worker.mjs URL install   makes its tables
//   node graphile-worker.mjs URL work      runs jobs until the input ends, and prints the numbers of those that it ran
import { Logger, run, runMigrations } from "graphile-worker";

const [url, command] = process.argv.slice(2);
const preset = {
  worker: {
    connectionString: url,
    concurrentJobs: 24,
    maxPoolSize: 25,
    localQueue: { size: 500 },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
    // A line for each job would be most of the work.
    logger: new Logger(() => () => {}),
  },
};

if (command === "install") {
  await runMigrations({ preset });
} else {
  let numbers = [];
  const tell = () => {
    process.stdout.write(numbers.join(" ") + "\n");
    numbers = [];
  };
  const runner = await run({
    preset,
    taskList: {
      work: (payload) => {
        if (numbers.push(Number(payload.text.slice(0, 9))) === 1) {
          setImmediate(tell);
        }
      },
    },
  });
  process.stdout.write("ready\n");
  process.stdin.on("end", async () => {
    await runner.stop();
    process.exit(0);
  });
  process.stdin.resume();
}
