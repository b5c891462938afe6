declare function setup(): Promise<void>;
export = setup;
