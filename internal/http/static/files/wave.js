// wave returns the path of a sound's loudness in a picture of a thousand times the height.
const wave = (samples, height) => {
	const each = Math.max(1, samples.length / 500);
	let path = "";
	for (let x = 0; x < 500; x++) {
		let peak = 0;
		for (let i = Math.floor(x * each); i < Math.min(samples.length, (x + 1) * each); i++) peak = Math.max(peak, Math.abs(samples[i]));
		const tall = Math.max(.5, Math.min(1, peak) * height * .9);
		path += `M${x * 2} ${(height - tall) / 2}h1.4v${tall}h-1.4z`;
	}
	return path;
};

// decode returns the samples of a sound at 8 kHz, of one channel.
const decode = async (bytes) => (await new OfflineAudioContext(1, 8000, 8000).decodeAudioData(bytes)).getChannelData(0);
